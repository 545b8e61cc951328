// What a round came to, for the table and for this player, in words.
import type { LastRound, TableView } from "../connection/messages";
import { money, say, sayAny } from "../words/index.svelte";

/** 'Total 10 · small', of the result on view; nothing while there is none. */
export function told(table: TableView): string {
  const { dice, history } = table;
  if (!dice.faces || dice.total === null) return "";
  const last = history.results.at(-1);
  const marks = last && last.number === dice.round ? [last.size, last.parity] : [];
  return [say("common.total", dice.total ?? 0), ...marks.flatMap((mark) => (mark ? [sayAny(`felt.${mark}`)] : []))].join(" · ");
}

/** 'you won 32.50'. */
export function mine(last: LastRound, currency: string): string {
  if (last.void) return say("felt.void");
  const net = last.returned - last.staked;
  if (net === 0) return say("terminal.youEven");
  return say(net > 0 ? "terminal.youWon" : "terminal.youLost", money(Math.abs(net), currency));
}
