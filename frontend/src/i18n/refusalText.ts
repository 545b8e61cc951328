// The text of a refusal, from its reason, clause and amounts.
import type { Refused } from "../connection/http";
import { hasText, language, money, t, tDynamic } from "./index.svelte";

/** Reasons with a general text. In English, the server's message adds what exactly was missing. */
const GENERAL: ReadonlySet<string> = new Set([
  "bad-message", "bad-value", "different-content", "fault", "not-known", "not-permitted", "unfit", "unmet-need",
]);

/** The keys of its text, most specific first: with house clause and amounts, and last the reason alone. */
export function textKeysOf(told: Pick<Refused, "reason" | "clause" | "sums">): string[] {
  const particular = told.clause?.startsWith("house:") ? [`${told.reason}@${told.clause}`] : [];
  const keys = [...particular, told.reason].flatMap((key) => (told.sums.length ? [`${key}:sums`, key] : [key]));
  return keys.map((key) => `refused.${key}`);
}

export function refusal(told: Refused): string {
  const key = textKeysOf(told).find(hasText);
  if (!key) return t("common.refused", told.message);
  const text = tDynamic(key, ...told.sums.map((sum) => money(sum, told.currency)));
  const isGeneral = key === `refused.${told.reason}` && GENERAL.has(told.reason) && language() === "en";
  return isGeneral ? `${text} (${told.message})` : text;
}
