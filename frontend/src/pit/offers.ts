// Which offers belong together, and what of them is for someone to fill in.
import type { Blank, Offer, ReferralLine } from "../connection/messages";

/** The blanks that the form shows. A second person signs in elsewhere. */
export const formBlanks = (blanks: readonly Blank[]): Blank[] => blanks.filter((blank) => blank.kind !== "second");

/** What an offer is, so that a dialog that is open for one never becomes another's. */
export const keyOf = (offer: Offer): string => `${offer.command} ${JSON.stringify(offer.preset)}`;

/** Every offer once. */
export const once = (offers: readonly Offer[]): Offer[] => [...new Map(offers.map((offer) => [keyOf(offer), offer])).values()];

const preset = (offer: Offer): Record<string, unknown> => offer.preset as Record<string, unknown>;

/** The round that an offer is about, if it names one. */
export const roundOfOffer = (offer: Offer): number | undefined => preset(offer)["round"] as number | undefined;

/** The treatments that are offered for a question. */
export const decisionsOn = (offers: readonly Offer[], referral: ReferralLine): Offer[] =>
  offers.filter((offer) => offer.command === "decide-referral" && preset(offer)["referral"] === referral.id);

/** To confirm a report, or to contest it. */
export const answersOn = (offers: readonly Offer[], report: string): Offer[] => offers.filter((offer) => preset(offer)["report"] === report);

/** Ways to settle a claim at the table, or to give it up. */
export const claimOffers = (offers: readonly Offer[], claim: string): Offer[] =>
  offers.filter((offer) => offer.command === "settle-claim" && preset(offer)["claim"] === claim);

/** What is offered for one piece of equipment. */
export const itemOffers = (offers: readonly Offer[], item: string): Offer[] =>
  offers.filter((offer) => preset(offer)["item"] === item);

/** Acts that cannot be undone, or that stop a table. */
export const isSevere = (offer: Offer): boolean => Boolean(offer.final) || offer.command === "shut";

/** A decision's own words, without the question, which stands beside it already: "Question: treatment". */
export function treatmentOnly(label: string, question: string): string {
  const rest = label.startsWith(question) ? label.slice(question.length).replace(/^[\s:：·,，–-]+/, "") : label;
  return rest || label;
}

/** Milliseconds that are left of something, in whole hours and minutes; negative where it is over. */
export function left(until: number, now: number): { isOver: boolean; hours: number; minutes: number } {
  const minutes = Math.floor(Math.abs(until - now) / 60_000);
  return { isOver: until <= now, hours: Math.floor(minutes / 60), minutes: minutes % 60 };
}
