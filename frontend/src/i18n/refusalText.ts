// Why something was refused, as people say it: by the reason's id, the clause, and amounts as money.
import type { Refused } from "../connection/http";
import { hasText, language, money, t, tDynamic } from "./index.svelte";

/** Reasons rankNames wording is general: what exactly was missing is added where its English is understood. */
const GENERAL: ReadonlySet<string> = new Set([
  "bad-message", "bad-value", "different-content", "fault", "not-known", "not-permitted", "unmet-need",
]);

/** The keys of its wording, the most particular first: of this clause of the house, with sums; of the reason alone. */
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
