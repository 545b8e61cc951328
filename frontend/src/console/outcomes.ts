// The 56 outcomes in the order in which the server sends their costs: 111, 112, … 666.
import { FACES } from "../shared/form/fields";

export type Faces = readonly [number, number, number];

export const OUTCOMES: readonly Faces[] = FACES.flatMap((low) =>
  FACES.filter((middle) => middle >= low).flatMap((middle) =>
    FACES.filter((high) => high >= middle).map((high): Faces => [low, middle, high])));

export interface Cost {
  faces: Faces;
  total: number;
  /** What the house would lose; negative if it would win. */
  loses: number;
}

export const costs = (exposures: readonly number[]): Cost[] =>
  OUTCOMES.map((faces, place) => ({ faces, total: faces[0] + faces[1] + faces[2], loses: exposures[place] ?? 0 }));

/** The outcomes grouped by total, lowest first. */
export function byTotal(all: readonly Cost[]): { total: number; costs: Cost[] }[] {
  const columns = new Map<number, Cost[]>();
  for (const one of all) columns.set(one.total, [...(columns.get(one.total) ?? []), one]);
  return [...columns].sort(([one], [other]) => one - other).map(([total, found]) => ({ total, costs: found }));
}
