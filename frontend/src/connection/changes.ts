// Applies changes to a view: a seat's bets change one by one, every other field is replaced as a whole.
import type { AnyChanges, AnyView, SeatView, Slip } from "./messages";

interface BetChanges {
  cleared?: boolean;
  gone?: string[];
  placed?: Slip[];
}

export function changed(view: AnyView, changes: AnyChanges): AnyView {
  const { cleared, gone, placed, ...parts } = changes as AnyChanges & BetChanges;
  const next = { ...view, ...parts } as AnyView;
  if (next.of !== "seat") return next;
  const lost = new Set(gone);
  const stay = cleared ? [] : (view as SeatView).bets.filter((bet) => !lost.has(bet.id));
  return { ...next, bets: [...stay, ...(placed ?? [])] };
}
