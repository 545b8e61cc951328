// The layout of a felt in pixels: rows, sizes of letters, and texts.
import type { FeltCell, FeltView } from "../connection/messages";

/** A row in which only odds are printed needs no finger's height. */
const FLAT = 0.6;
/** How wide a letter is, for its height; a Chinese sign is as wide as it is high. */
const LETTER = 0.52;
const SIGN = 1;

export interface Rows {
  /** How tall they are together, in units. */
  tall: number;
  /** The position of a row, in units from the top. */
  at: (y: number) => number;
}

const overlaps = (cell: FeltCell, row: number) => cell.y < row + 1 - 1e-3 && cell.y + cell.tall > row + 1e-3;

/** The rows of a felt. Rows without an area are flat. */
export function rowsOf(felt: FeltView): Rows {
  const tops = [0];
  for (let row = 0; row < felt.tall; row++) {
    const isFlat = felt.cells.some((cell) => overlaps(cell, row)) && !felt.cells.some((cell) => cell.area && overlaps(cell, row));
    tops.push((tops[row] ?? 0) + (isFlat ? FLAT : 1));
  }
  const at = (y: number) => {
    const row = Math.min(felt.tall - 1, Math.max(0, Math.floor(y + 1e-6)));
    const [top = 0, below = 0] = [tops[row], tops[row + 1]];
    return top + (below - top) * (y - row);
  };
  return { tall: tops[felt.tall] ?? felt.tall, at };
}

/** The size of letters with which a text fits into a width on one line; never above `most`. */
export function fittingFontSize(text: string, width: number, most: number): number {
  const long = [...text].reduce((sum, sign) => sum + (sign > "\u2e80" ? SIGN : LETTER), 0);
  return Math.min(most, (0.94 * width) / Math.max(1, long));
}

/** Families whose odds stand in cells of their own, so that they are not printed on each area. */
export function familiesWithPrintedOdds(felt: FeltView): ReadonlySet<string> {
  const families = new Map(felt.areas.map((area) => [area.id, area.family]));
  return new Set(felt.cells.flatMap((cell) => (cell.odds_of ? [families.get(cell.odds_of) ?? ""] : [])));
}

/** The columns of the even-money bets, which are shown first if the layout does not fit. */
export function evenMoneyColumns(felt: FeltView): readonly [number, number] {
  const families = new Map(felt.areas.map((area) => [area.id, area.family]));
  const cells = felt.cells.filter((cell) => cell.area && families.get(cell.area) === "even-money");
  return [Math.min(...cells.map((cell) => cell.x)), Math.max(...cells.map((cell) => cell.x + cell.wide))];
}
