import { readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { digest } from "./tools/digest.mjs";
import { textsOfPlayers } from "./textsOfPlayers";

const here = import.meta.dirname;
const built = resolve(here, process.env.TAISAI_BUILT ?? "../src/taisai/server/http/built");
/** All pages, or those of TAISAI_ONLY (their names, with commas between) while one is being written. */
const only = process.env.TAISAI_ONLY?.split(",");
const pages = readdirSync(here).filter((name) => name.endsWith(".html") && (!only || only.includes(name.slice(0, -".html".length))));
/** A floor to speak with while pages are written: `npx vite`, beside `make demo`. */
const floor = process.env.TAISAI_FLOOR ?? "http://127.0.0.1:8080";

/** Tells every page which sources it was made from, so that it sees when the floor has newer ones. */
function pagesKnowTheirSources(): Plugin {
  let made = "";
  let isWritten = false;
  return {
    name: "pages-know-their-sources",
    buildStart() {
      made = digest(here); // before any file is read: an edit while this runs makes the next run build again
    },
    transformIndexHtml(_html, { server }) {
      const content = server ? "" : made; // what Vite itself serves is never old
      return [{ tag: "meta", attrs: { name: "taisai-pages", content }, injectTo: "head-prepend" }];
    },
    writeBundle() {
      isWritten = true;
    },
    closeBundle() {
      // Last of all, so that a build that breaks off never looks finished.
      if (isWritten) writeFileSync(join(built, "pages.txt"), `${made}\n`);
    },
  };
}

export default defineConfig({
  root: here,
  appType: "mpa",
  plugins: [svelte(), svelteTesting(), pagesKnowTheirSources(), textsOfPlayers()],
  build: {
    outDir: built,
    emptyOutDir: true,
    target: "es2022",
    assetsDir: "assets",
    // The floor's content security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: pages.map((name) => join(here, name)),
      output: {
        chunkFileNames: ({ facadeModuleId }) =>
          `assets/${facadeModuleId?.endsWith("?players") ? "players-" : ""}[name]-[hash].js`,
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      // The floor speaks with its own pages alone, so that ours say they are.
      ["/api", "/health", "/socket"].map((path) => [
        path,
        { target: floor, ws: path === "/socket", changeOrigin: true, headers: { origin: floor } },
      ]),
    ),
  },
  test: {
    environment: "jsdom",
    setupFiles: ["tests/browser.ts"],
    include: ["tests/**/*.test.ts"],
    passWithNoTests: true,
  },
});
