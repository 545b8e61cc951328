// What a round's bets come to on each area: adding up, and nothing else.
import type { BetLine } from "../connection/messages";

export interface AreaStakes { stake: number; won: boolean; lost: boolean }

/** Area → the stakes there at the close, on one layout. */
export function stakesOn(bets: readonly BetLine[], layout: string): Map<string, AreaStakes> {
  const all = new Map<string, AreaStakes>();
  for (const bet of bets) {
    if (bet.layout !== layout || !bet.lay) continue;
    const was = all.get(bet.area) ?? { stake: 0, won: false, lost: false };
    all.set(bet.area, { stake: was.stake + bet.stake, won: was.won || bet.state === "won", lost: was.lost || bet.state === "lost" });
  }
  return all;
}

/** The bets by seat: seats by number, bets in the order in which they were placed. */
export function bySeat(bets: readonly BetLine[]): (readonly [seat: string, bets: readonly BetLine[]])[] {
  const seats = new Map<string, BetLine[]>();
  for (const bet of bets) seats.set(bet.seat, [...(seats.get(bet.seat) ?? []), bet]);
  return [...seats].sort(([one], [other]) => Number(one) - Number(other) || one.localeCompare(other));
}
