// How bets lie: stacks on areas, and the order in which a dealer settles them.
import type { SchoolBet, JudgedBetResponse } from "../connection/messages";

export interface Lying extends SchoolBet {
  /** Where it stands in the exercise, which is the order of the answers. */
  place: number;
}

/** By seat; within a seat in the order in which they were placed. */
export const inOrder = (bets: readonly SchoolBet[]): Lying[] =>
  bets.map((bet, place) => ({ ...bet, place })).sort((one, other) => one.seat - other.seat || one.place - other.place);

export function byArea(bets: readonly Lying[]): Map<string, Lying[]> {
  const areas = new Map<string, Lying[]>();
  for (const bet of bets) areas.set(bet.area, [...(areas.get(bet.area) ?? []), bet]);
  return areas;
}

/** The areas of which something comes back. */
export const returning = (bets: readonly JudgedBetResponse[]): Set<string> =>
  new Set(bets.filter((bet) => bet.returned > 0).map((bet) => bet.area));

/** A figure as it was typed: whole chips, or nothing yet. */
export const typed = (text: string): number | null => (/^\d{1,9}$/.test(text.trim()) ? Number(text) : null);
