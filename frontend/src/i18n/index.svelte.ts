// Texts of the pages, one file for each language, and the format of numbers, money and times.
import { Unreachable } from "../connection/http";
import type { Words } from "../connection/messages";
import type en from "./en.json";

type Sections = typeof en;
/** "section.key", as in the language files. */
export type Key = {
  [S in keyof Sections]: S extends string ? `${S}.${keyof Sections[S] & string}` : never;
}[keyof Sections];
type Table = Record<string, Record<string, string>>;

const REMEMBERED = "taisai-language";
const FILES = import.meta.glob<{ default: Table }>("./*.json");
const FILES_OF_PLAYERS = import.meta.glob<{ default: Table }>("./*.json", { query: "?players" });
const codeOf = (file: string) => file.slice(2, -".json".length);
export const LANGUAGES: readonly string[] = Object.keys(FILES).map(codeOf).sort();

let files = FILES;
let table = $state.raw<Table>({});
let code = $state("en");

function wanted(): string {
  const kept = localStorage.getItem(REMEMBERED);
  const heard = [kept, ...navigator.languages.map((one) => one.slice(0, 2)), "en"];
  return heard.find((one): one is string => one !== null && LANGUAGES.includes(one)) ?? "en";
}

/** The language that is spoken now. */
export const language = (): string => code;

/** Terminals and displays load the sections of players alone (`vite.config.ts`). */
export function readAsPlayer(): void {
  files = FILES_OF_PLAYERS;
}

let latest = 0;

/** Changes the language of the whole page. If the file cannot be loaded, nothing changes. */
export async function loadLanguage(next: string = wanted()): Promise<void> {
  const load = files[`./${next}.json`];
  if (!load) throw new Error(`expected one of ${LANGUAGES.join(", ")}, got ${next}`);
  const mine = (latest += 1);
  const words = await load().catch(() => {
    throw new Unreachable();
  });
  if (mine !== latest) return; // the user chose another language meanwhile
  table = words.default;
  code = next;
  document.documentElement.lang = locale();
}

export async function chooseLanguage(next: string): Promise<void> {
  await loadLanguage(next);
  localStorage.setItem(REMEMBERED, next);
}

const locale = (): string => table["common"]?.["locale"] ?? code;

/** A text of the pages, with values for {0}, {1}, … */
export function t(key: Key, ...values: readonly (string | number)[]): string {
  return tDynamic(key, ...values);
}

/** The same for a key known only at run time, such as a rank; an unknown key gives its last part. */
export function tDynamic(key: string, ...values: readonly (string | number)[]): string {
  const [section = "", name = ""] = key.split(".");
  const found = table[section]?.[name] ?? name;
  return found.replace(/\{(\d)\}/g, (_whole, place: string) => String(values[Number(place)] ?? ""));
}

/** Whether there is a text for the key. */
export function hasText(key: string): boolean {
  const [section = "", name = ""] = key.split(".");
  return table[section]?.[name] !== undefined;
}

/** Why a table is paused: the words that staff gave, or those for what was reported without any. */
export const pausedFor = (reason: string): string => (hasText(`paused.${reason}`) ? tDynamic(`paused.${reason}`) : reason);

/** A text from the server, in the reader's language. */
export const localized = (words: Words | null | undefined): string =>
  words ? ((words as unknown as Record<string, string>)[code] ?? words.en) : "";

/** The format of a currency; play money has no symbol and two decimals. */
function written(currency: string): Intl.NumberFormatOptions {
  return /^[A-Z]{3}$/.test(currency)
    ? { style: "currency", currency, currencyDisplay: "narrowSymbol" }
    : { style: "decimal", minimumFractionDigits: 2, maximumFractionDigits: 2 };
}

/** An amount in minor units as money; `isShort` leaves out decimals that are zero. */
export function money(amount: number, currency: string, { isShort = false, isSigned = false } = {}): string {
  const value = amount / minorUnits(currency);
  const isWhole = isShort && Number.isInteger(value);
  return new Intl.NumberFormat(locale(), {
    ...written(currency),
    ...(isWhole ? { minimumFractionDigits: 0, maximumFractionDigits: 0 } : {}),
    ...(isSigned ? { signDisplay: "exceptZero" as const } : {}),
  }).format(value);
}

/** How many minor units make one unit of a currency, for input fields. */
export function minorUnits(currency: string): number {
  return 10 ** (new Intl.NumberFormat("en", written(currency)).resolvedOptions().maximumFractionDigits ?? 2);
}

export const number = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  new Intl.NumberFormat(locale(), options).format(value);

export const time = (at: number): string => new Intl.DateTimeFormat(locale(), { timeStyle: "medium" }).format(at);
export const dateTime = (at: number): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "medium" }).format(at);
