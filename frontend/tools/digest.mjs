// What the pages are made from, as one short digest. hatch_build.py reckons the same, without Node.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FRONTEND = fileURLToPath(new URL("..", import.meta.url));

/** Folders that no page is made from. */
const BESIDE = new Set(["node_modules", "tests", "tools", "dist"]);

/** @param {string} [folder] @returns {string} sixteen hexadecimal digits */
export function digest(folder = FRONTEND) {
  const all = createHash("sha256");
  for (const path of sources(folder).sort()) {
    all.update(`${path}\0${createHash("sha256").update(readFileSync(join(folder, path))).digest("hex")}\n`);
  }
  return all.digest("hex").slice(0, 16);
}

/** @param {string} folder @param {string} within @returns {string[]} */
function sources(folder, within = "") {
  return readdirSync(join(folder, within), { withFileTypes: true }).flatMap((entry) => {
    const path = `${within}${entry.name}`;
    if (entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return within === "" && BESIDE.has(entry.name) ? [] : sources(folder, `${path}/`);
    return entry.isFile() ? [path] : [];
  });
}
