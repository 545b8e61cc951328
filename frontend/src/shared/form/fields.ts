// What a blank holds before anyone has touched it, and whether what it holds can be sent.
import type { Blank } from "../../connection/messages";

export type Fields = Record<string, unknown>;
/** A bet of a round that was played by hand. */
export interface BetByHand { seat: string; means: string; area: string; stake: number }
/** What is counted in pieces, and not in money. */
export const COLOUR_CHIPS = "colour-chips";
export const FACES = [1, 2, 3, 4, 5, 6] as const;

/** What a blank begins with: what is given, else the least that can be said; nothing where someone has to choose. */
export function begun(blank: Blank, defaults: Readonly<Fields>): unknown {
  const given = defaults[blank.field];
  if (given !== undefined) return given;
  if (blank.kind === "faces") return [];
  if (blank.kind === "counts") return FACES.map(() => 0);
  if (blank.kind === "areas" || blank.kind === "lines" || blank.kind === "bets-by-hand") return [];
  if (blank.kind === "bets" || blank.kind === "odds" || blank.kind === "sums") return {};
  if (blank.kind === "limits") return { least: 0, most: 0, groups: {} };
  if (blank.optional) return undefined;
  if (blank.kind === "whole") return Number(blank.choices[0]?.value ?? blank.least ?? 0);
  if (blank.kind === "choice" && blank.choices.length === 1) return blank.choices[0]?.value;
  return undefined;
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** Whether a blank belongs to the form with these values of other fields. */
export const isAsked = (blank: Blank, values: Readonly<Fields>): boolean =>
  Object.entries(blank.when ?? {}).every(([field, allowed]) => (allowed as readonly unknown[]).includes(values[field]));

/** Whether a blank is filled in as far as it has to be; whether it is right is the server's to say. */
export function isFilled(blank: Blank, value: unknown): boolean {
  if (blank.kind === "second") return true;
  if (blank.kind === "faces" && Array.isArray(value)) return value.length === 3 || (blank.optional && value.length === 0);
  if (blank.kind === "bets") return Object.keys((value as Fields | undefined) ?? {}).length > 0 || blank.optional;
  if (blank.kind === "whole" && typeof value === "number") {
    return Number.isInteger(value) && value >= (blank.least ?? value) && value <= (blank.most ?? value);
  }
  return blank.optional || !isNothing(value);
}

/** The fields that are sent: a blank that was left empty is left out. */
export function filledFields(blanks: readonly Blank[], values: Readonly<Fields>): Fields {
  const told: Fields = {};
  for (const blank of blanks) {
    const value = values[blank.field];
    if (blank.kind !== "second" && !isNothing(value)) told[blank.field] = value;
  }
  return told;
}
