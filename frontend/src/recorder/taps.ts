// What was tapped, and how seats and stakes are listed.
import type { Slip, Words } from "../connection/messages";

export interface Tap extends Slip {
  seat: string;
  label: Words;
  state: "pending" | "registered" | "refused" | "back";
  /** Why it was refused, by which clause, and whether because it came too late. */
  why: string;
  clause: string | null;
  isLate: boolean;
  /** Whether it is still shown on the area itself. */
  isFresh: boolean;
}

/** The seats that have a key of their own. */
const KEYED = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/** Seats 1 to 9, then the others that are taken, by number and name. */
export function seatsOf(taken: readonly string[]): string[] {
  const others = taken.filter((seat) => !KEYED.includes(seat));
  return [...KEYED, ...others.sort((one, other) => one.localeCompare(other, "en", { numeric: true }))];
}

/** Area → the sum of all stakes there. */
export function sumsOf(bets: readonly { area: string; stake: number }[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { area, stake } of bets) sums.set(area, (sums.get(area) ?? 0) + stake);
  return sums;
}
