// Adds or changes a word in every language file: node tools/word.mjs terminal.undo "Undo" "撤回"
// The texts come in the order of the files' names (en, zh, …). Keys are kept sorted within their section.
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../src/i18n");
const [key, ...texts] = process.argv.slice(2);
const files = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();
const [section, name] = (key ?? "").split(".");
if (!section || !name || texts.length !== files.length) {
  console.error(`expected section.key and ${files.length} texts (${files.join(", ")}), got ${process.argv.length - 2} arguments`);
  process.exit(2);
}
const lock = join(folder, ".lock");
for (let tries = 0; ; tries += 1) {
  try {
    closeSync(openSync(lock, "wx"));
    break;
  } catch (error) {
    if (tries > 200) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
}
try {
  for (const [place, file] of files.entries()) {
    const words = JSON.parse(readFileSync(join(folder, file), "utf8"));
    const changed = { ...words[section], [name]: texts[place] };
    words[section] = Object.fromEntries(Object.entries(changed).sort(([one], [other]) => (one < other ? -1 : 1)));
    writeFileSync(join(folder, file), `${JSON.stringify(words, null, 2)}\n`);
  }
} finally {
  rmSync(lock);
}
