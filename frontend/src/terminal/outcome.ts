// What a round came to, for the table and for this player, in words.
import type { LastRound, TableView } from "../connection/messages";
import { money, t, tDynamic } from "../i18n/index.svelte";

/** 'Total 10 · small', of the result on view; nothing while there is none. */
export function told(table: TableView): string {
  const { dice, history } = table;
  if (!dice.faces || dice.total === null) return "";
  const last = history.results.at(-1);
  const marks = last && last.number === dice.round ? [last.size, last.parity] : [];
  return [t("common.total", dice.total ?? 0), ...marks.flatMap((mark) => (mark ? [tDynamic(`felt.${mark}`)] : []))].join(" · ");
}

/** 'you won 32.50'. */
export function mine(last: LastRound, currency: string): string {
  if (last.void) return t("felt.void");
  const net = last.returned - last.staked;
  if (net === 0) return t("terminal.youEven");
  return t(net > 0 ? "terminal.youWon" : "terminal.youLost", money(Math.abs(net), currency));
}
