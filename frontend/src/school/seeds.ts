// Which exercise comes next: drawn here, or following on the one that a trainer gave.

/** Six digits: a trainer reads the number of an exercise out to a class. */
const NUMBERS = 1_000_000;

/** One of a million exercises; none is kept from coming by what came before. */
export function randomSeed(): number {
  const drawn = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  return drawn % NUMBERS;
}

/** A lesson from a trainer: their exercise and the ones after it, so that a whole class gets the same ten. */
export function seedsFrom(first: number, many: number, greatest: number): number[] {
  return Array.from({ length: many }, (_none, place) => (first + place) % (greatest + 1));
}

/** A seed as it was typed or stands in an address; null for what is none. */
export function parseSeed(text: string | null, greatest: number): number | null {
  if (text === null || !/^\d{1,16}$/.test(text.trim())) return null;
  const seed = Number(text);
  return seed <= greatest ? seed : null;
}
