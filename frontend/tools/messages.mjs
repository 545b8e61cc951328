// Writes src/connection/messages.ts from the server's schemas: `npm run messages`, or `make pictures`.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const WRITTEN = process.argv[2] ?? fileURLToPath(new URL("../src/connection/messages.ts", import.meta.url));

const made = execFileSync(".venv/bin/python", ["-m", "tools.schemas"], { cwd: ROOT, encoding: "utf-8" });
/** @type {{ digest: string, schema: { $defs: Record<string, object> } }} */
const { digest, schema } = JSON.parse(made, (key, value) => (key === "" ? value : olderForm(value)));
const types = await compile({ title: "Unused", ...schema }, "Unused", {
  additionalProperties: false,
  bannerComment: `// Made from the server's schemas ${digest} by \`npm run messages\`, never by hand.`,
  unreachableDefinitions: true,
  style: { printWidth: 110 },
});
writeFileSync(WRITTEN, withoutTheCompilersRemarks(types));
console.log(WRITTEN);

/** @param {string} text */
function withoutTheCompilersRemarks(text) {
  return text
    .replaceAll(/ \*\n \* This interface was referenced by [^/]*? \*\//g, " */")
    .replaceAll(/\/\*\*\n \* This interface was referenced by [^/]*? \*\/\n/g, "")
    .replace(/export interface Unused \{[^}]*\}\n/, "");
}

/** Lists of so many things each, as the compiler of types knows them. @param {any} part */
function olderForm(part) {
  if (part === null || typeof part !== "object" || !("prefixItems" in part)) return part;
  const { prefixItems, items: _, ...rest } = part;
  return { ...rest, items: prefixItems, additionalItems: false, minItems: prefixItems.length };
}
