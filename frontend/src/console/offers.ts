// How acts are laid out on the console: what belongs together, and what a button is called by tests.
import type { Offer } from "../connection/messages";

export const GROUPS = ["round", "people", "equipment", "money", "table"] as const;
export type Group = (typeof GROUPS)[number];

const OF: Readonly<Record<string, Group>> = {
  "perform": "round", "declare": "round", "close-withdrawal": "round", "choose-withdrawal": "round", "report": "round", "decide-referral": "round",
  "assign": "people", "leave": "people",
  "place-item": "equipment", "remove-item": "equipment", "repair-item": "equipment", "inspect": "equipment",
  "shuffle-shoe": "equipment", "load-shoe": "equipment", "count-cards": "equipment",
  "settle-claim": "money", "take-seat": "money", "leave-seat": "money", "buy-credits": "money", "buy-colour": "money", "cash-colour": "money",
};
/** What cannot be taken back and asks nothing: it is asked for once more. */
const FOR_GOOD = new Set(["close-table"]);

const preset = (offer: Offer): Readonly<Record<string, unknown>> => offer.preset;

export const groupOf = (offer: Offer): Group => OF[offer.command] ?? "table";
export const nameOf = (offer: Offer): string => String(preset(offer)["act"] ?? offer.command);
/** The same for as long as the offer is the same one. */
export const keyOf = (offer: Offer): string => `${offer.command} ${JSON.stringify(offer.preset)}`;
export const isResult = (offer: Offer | undefined): boolean => offer !== undefined && preset(offer)["act"] === "enter-result";
export const referralOf = (offer: Offer): string => String(preset(offer)["referral"] ?? "");
export const presetOf = (offer: Offer, field: string): string | undefined => preset(offer)[field] as string | undefined;

/** Whether something has to be said before it can be done; a second person is asked for later. */
export const needsInput = (offer: Offer): boolean => FOR_GOOD.has(offer.command) || offer.blanks.some((blank) => blank.kind !== "second");

/** Whether it belongs beside the next step: it is about the round in hand, and has no place of its own above. */
export const isRoundAction = (offer: Offer): boolean =>
  groupOf(offer) === "round" && !["decide-referral", "choose-withdrawal"].includes(offer.command) && !(offer.command === "report" && preset(offer)["round"] === undefined);

/** The one number that a step wants, if it wants nothing else: it is set beside the button. */
export function onlyNumber(offer: Offer): Offer["blanks"][number] | undefined {
  const asked = offer.blanks.filter((blank) => blank.kind !== "second");
  return asked.length === 1 && asked[0]?.kind === "whole" && !asked[0].optional ? asked[0] : undefined;
}
