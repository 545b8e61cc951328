// What a round's bets come to on each area: adding up, and nothing else.
import type { BetLine } from "../connection/messages";

export interface AreaStakes { stake: number; won: boolean; lost: boolean }

/** Area → what lay there at the close, on one layout, as the server tells it. */
export function stakesOn(bets: readonly BetLine[], layout: string): Map<string, AreaStakes> {
  const all = new Map<string, AreaStakes>();
  for (const bet of bets) {
    if (bet.layout !== layout || !bet.lay) continue;
    const was = all.get(bet.area) ?? { stake: 0, won: false, lost: false };
    all.set(bet.area, { stake: was.stake + bet.stake, won: was.won || bet.state === "won", lost: was.lost || bet.state === "lost" });
  }
  return all;
}

/** The bets seat by seat: seats in the order of their numbers, bets as they were laid. */
export function bySeat(bets: readonly BetLine[]): (readonly [seat: string, bets: readonly BetLine[]])[] {
  const seats = new Map<string, BetLine[]>();
  for (const bet of bets) seats.set(bet.seat, [...(seats.get(bet.seat) ?? []), bet]);
  return [...seats].sort(([one], [other]) => Number(one) - Number(other) || one.localeCompare(other));
}
