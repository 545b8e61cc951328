// Default values of blanks that the table already knows.
import type { Offer } from "../connection/messages";
import type { Desk, Fields } from "./desk.svelte";
import { presetOf } from "./offers";

/** The next day, such as 2026-11-16. */
export function dayAfter(day: string): string {
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return "";
  at.setUTCDate(at.getUTCDate() + 1);
  return at.toISOString().slice(0, 10);
}

export function defaultsOf(offer: Offer, desk: Desk): Fields {
  const { view, desk: console } = desk;
  const known: Record<string, Fields> = {
    "set-limits": { limits: { least: 0, most: 0, groups: {}, ...view?.limits, exposure: console?.exposure ?? null } },
    "offer-odds": { offers: { ...console?.odds } },
    "begin-day": { day: dayAfter(console?.day ?? "") },
    "assign": { rank: presetOf(offer, "position") },
  };
  return known[offer.command] ?? {};
}
