// Groups the actions of the console, and gives each button its name in tests.
import type { Offer } from "../connection/messages";

export const GROUPS = ["round", "people", "equipment", "money", "table"] as const;
export type Group = (typeof GROUPS)[number];

const OF: Readonly<Record<string, Group>> = {
  "perform": "round", "declare": "round", "declare-unrecorded": "round", "enter-settlement": "round", "enter-round": "round", "confirm-report": "round", "contest-report": "round", "close-withdrawal": "round", "choose-withdrawal": "round", "report": "round", "decide-referral": "round",
  "assign": "people", "leave": "people",
  "place-item": "equipment", "remove-item": "equipment", "repair-item": "equipment", "inspect": "equipment",
  "shuffle-shoe": "equipment", "load-shoe": "equipment", "count-cards": "equipment",
  "correct-record": "money", "settle-claim": "money", "take-seat": "money", "leave-seat": "money", "buy-credits": "money", "buy-colour": "money", "cash-colour": "money",
};

const preset = (offer: Offer): Readonly<Record<string, unknown>> => offer.preset;

export const groupOf = (offer: Offer): Group => OF[offer.command] ?? "table";
export const nameOf = (offer: Offer): string => String(preset(offer)["act"] ?? offer.command);
/** Stays the same while the offer stays the same. */
export const keyOf = (offer: Offer): string => `${offer.command} ${JSON.stringify(offer.preset)}`;
export const isResult = (offer: Offer | undefined): boolean => offer !== undefined && preset(offer)["act"] === "enter-result";
export const referralOf = (offer: Offer): string => String(preset(offer)["referral"] ?? "");
export const presetOf = (offer: Offer, field: string): string | undefined => preset(offer)[field] as string | undefined;

/** The round that an offer is about, if it names one. */
export const roundOfOffer = (offer: Offer): number | undefined => preset(offer)["round"] as number | undefined;

/** Whether the action needs input or confirmation first, because it cannot be undone; a second person is asked later. */
export const needsInput = (offer: Offer): boolean => Boolean(offer.final) || offer.blanks.some((blank) => blank.kind !== "second");

/** Whether the action belongs beside the next step: it concerns the current round and has no place above. */
export const isRoundAction = (offer: Offer): boolean =>
  groupOf(offer) === "round" && !["decide-referral", "choose-withdrawal"].includes(offer.command) && !(offer.command === "report" && preset(offer)["round"] === undefined);

/** The only number that a step needs, if it needs nothing else: its field stands beside the button. */
export function onlyNumber(offer: Offer): Offer["blanks"][number] | undefined {
  const asked = offer.blanks.filter((blank) => blank.kind !== "second");
  return asked.length === 1 && asked[0]?.kind === "whole" && !asked[0].optional ? asked[0] : undefined;
}
