// The status of a table for the display; the text itself comes from the server.
import type { HistoryView, TableView } from "../connection/messages";

export type Stand = "open" | "closed" | "result" | "waits" | "held";

export function statusOf(view: Pick<TableView, "round" | "dice" | "stoppage">): Stand {
  const { round, dice, stoppage } = view;
  if (stoppage.closed || stoppage.shut || stoppage.hold) return "held";
  if (round.bets_open) return "open";
  if (round.phase === "between") return "waits";
  return dice.faces && dice.round === round.number ? "result" : "closed";
}

export interface Often { total: number; times: number }
/** The first ones, and how many more came as often as the last of these. */
export interface Extremes { shown: Often[]; more: number }

/** The totals that came most and least often, with their counts. */
export function hotAndCold(history: Pick<HistoryView, "totals">, most = 3): { hot: Extremes; cold: Extremes } {
  const all = Object.entries(history.totals).map(([total, times]) => ({ total: Number(total), times }));
  const by = (sign: 1 | -1): Extremes => {
    const sorted = [...all].sort((a, b) => sign * (b.times - a.times) || a.total - b.total);
    const shown = sorted.slice(0, most);
    return { shown, more: sorted.slice(most).filter((one) => one.times === shown.at(-1)?.times).length };
  };
  return { hot: by(1), cold: by(-1) };
}
