// Every language says everything, with the same places for values.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { localized, chooseLanguage, language, LANGUAGES, minorUnits, money, number, t, tDynamic, loadLanguage } from "../src/i18n/index.svelte";
import { STAFF } from "../textsOfPlayers";

type Table = Record<string, Record<string, string>>;
const folder = join(import.meta.dirname, "../src/i18n");
const tables = Object.fromEntries(
  readdirSync(folder).filter((name) => name.endsWith(".json"))
    .map((name) => [name, JSON.parse(readFileSync(join(folder, name), "utf8")) as Table]),
);
const keys = (table: Table) => Object.entries(table).flatMap(([section, words]) => Object.keys(words).map((key) => `${section}.${key}`)).sort();
const word = (table: Table, key: string) => { const [section = "", name = ""] = key.split("."); return table[section]?.[name] ?? ""; };
const places = (text: string) => [...text.matchAll(/\{\d\}/g)].map(String).sort();

/** What the first language has and another lacks, and the other way round. */
function missing(one: Table, other: Table): string[] {
  const [a, b] = [new Set(keys(one)), new Set(keys(other))];
  return [...[...a].filter((key) => !b.has(key)), ...[...b].filter((key) => !a.has(key))];
}

describe("languages", () => {
  const english = tables["en.json"] as Table;
  it.each(Object.keys(tables))("%s lacks nothing", (name) => {
    expect(missing(english, tables[name] as Table)).toEqual([]);
  });
  it.each(Object.keys(tables))("%s has the same places, and no empty text", (name) => {
    const table = tables[name] as Table;
    for (const key of keys(english)) {
      expect(word(table, key).trim(), key).not.toBe("");
      expect(places(word(table, key)), key).toEqual(places(word(english, key)));
    }
  });
  it("a key that one language lacks is found", () => {
    expect(missing(english, { ...english, common: { ...english["common"], more: "x" } })).toEqual(["common.more"]);
    const { common: _gone, ...rest } = english;
    expect(missing(english, rest)).toContain("common.close");
  });
});

/** A source file and all that it imports. */
function sources(file: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(file)) return found;
  const text = readFileSync(file, "utf8");
  found.set(file, text);
  for (const [, name = ""] of text.matchAll(/(?:from|import) "(\.[^"]+)"/g)) {
    const path = resolve(dirname(file), name);
    const source = [path, `${path}.ts`].find((one) => /\.(ts|svelte)$/.test(one) && existsSync(one));
    if (source) sources(source, found);
  }
  return found;
}

const textsOfStaff = new RegExp(`["\`](?:${STAFF.join("|")})\\.\\w+`, "g");

describe("pages that load the texts of players alone", () => {
  it.each(["terminal", "display"])("%s needs no other", (page) => {
    const read = sources(join(folder, `../${page}/main.ts`));
    expect(read.size).toBeGreaterThan(20);
    for (const [file, text] of read) expect(text.match(textsOfStaff), file).toBeNull();
  });
  it("a page that needs others is found", () => {
    const read = sources(join(folder, "../console/main.ts"));
    expect([...read.values()].some((text) => textsOfStaff.test(text))).toBe(true);
  });
});

describe("saying", () => {
  beforeEach(() => loadLanguage("en"));
  it("fills values in", () => { expect(t("common.round", 7)).toBe("Round 7"); });
  it("switches at once, and remembers", async () => {
    await chooseLanguage("zh");
    expect(language()).toBe("zh");
    expect(t("common.round", 7)).toBe("第 7 局");
    expect(document.documentElement.lang).toBe("zh-CN");
    expect(localStorage.getItem("taisai-language")).toBe("zh");
  });
  it("tells the server's own words in the language, or in English", async () => {
    expect(localized({ en: "Small", zh: "小" })).toBe("Small");
    await loadLanguage("zh");
    expect(localized({ en: "Small", zh: "小" })).toBe("小");
    expect(localized(null)).toBe("");
  });
  it("has a name for what it does not know", () => { expect(tDynamic("rank.floor-walker")).toBe("floor-walker"); });
  it("refuses a language that there is none of", async () => { await expect(loadLanguage("xx")).rejects.toThrow("expected one of en, zh"); });
  it("knows the languages there are", () => { expect(LANGUAGES).toEqual(["en", "zh"]); });
});

describe("money", () => {
  beforeEach(() => loadLanguage("en"));
  it("is written by locale, from minor units", () => {
    expect(money(123_456, "SGD")).toContain("1,234.56");
    expect(money(500, "SGD", { isShort: true })).toMatch(/^\D*5$/);
    expect(money(550, "SGD", { isShort: true })).toContain("5.50");
    expect(money(-100, "SGD", { isSigned: true })).toMatch(/-/);
    expect(money(100, "SGD", { isSigned: true })).toMatch(/\+/);
  });
  it("knows currencies without minor units", () => {
    expect(minorUnits("JPY")).toBe(1);
    expect(money(1_234, "JPY")).toContain("1,234");
  });
  it("numbers", () => { expect(number(1_234_567)).toBe("1,234,567"); });
});
