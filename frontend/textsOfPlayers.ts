// The texts that a page of players loads: a language file without the sections of staff.
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

/** Sections of the language files that neither a terminal nor a display needs. */
export const STAFF = ["account", "approval", "byHand", "cage", "console", "lobby", "office", "pit", "recorder", "report", "school"];

/** For `en.json?players`. */
export function textsOfPlayers(): Plugin {
  return {
    name: "texts-of-players",
    enforce: "pre",
    load(id) {
      const [file = "", query] = id.split("?");
      if (query !== "players") return null;
      const sections = Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>);
      const texts = Object.fromEntries(sections.filter(([name]) => !STAFF.includes(name)));
      return { code: `export default ${JSON.stringify(texts)}`, moduleType: "js" };
    },
  };
}
