// Chips as they are drawn: a colour for each of the values that a table offers, and a stake as a pile of them.
const COLOURS = ["#f1f1ec", "#c0392b", "#1f6f3e", "#1d4f91", "#111", "#6c2f8e", "#b7791f"] as const;
/** A pile is as high as this, however much it is worth. */
const MOST = 5;

export interface ChipDrawing {
  colour: string;
  /** Signs on it are dark. */
  isPale: boolean;
}

/** The chip at a place among those that a table offers. */
export function chipAt(place: number): ChipDrawing {
  const at = ((place % COLOURS.length) + COLOURS.length) % COLOURS.length;
  return { colour: COLOURS[at] ?? "#111", isPale: at === 0 };
}

/** A chip of a seat's own colour; signs on a light one are dark. */
export function colouredChip(paint: string): ChipDrawing {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(paint.slice(at, at + 2), 16) || 0);
  return { colour: paint, isPale: 0.3 * red + 0.6 * green + 0.1 * blue > 160 };
}

/** The fewest chips that a stake is made of, the greatest first, as places among the values; never none. */
export function pileOf(stake: number, values: readonly number[]): number[] {
  const pile: number[] = [];
  let left = stake;
  for (let place = values.length - 1; place >= 0 && pile.length < MOST; place--) {
    const value = values[place] ?? Number.POSITIVE_INFINITY;
    while (left >= value && pile.length < MOST) { pile.push(place); left -= value; }
  }
  return pile.length ? pile : [0];
}
