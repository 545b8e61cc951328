// The best lesson of every sort on this device: the server keeps nothing of anyone's practice.
import type { LessonSettings } from "./schoolClient";

const BEST = "taisai-school-best";
const LAST = "taisai-school-last";

export interface Best extends LessonSettings {
  score: number;
  at: number;
}

/** What is kept, or nothing where somebody else wrote there. */
function kept<T>(name: string, isGood: (value: unknown) => value is T): T | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? "null");
    return isGood(value) ? value : null;
  } catch {
    return null;
  }
}

const isAsked = (value: unknown): value is LessonSettings =>
  typeof value === "object" && value !== null && "kind" in value && "book" in value && "layout" in value && "level" in value;
const areBests = (value: unknown): value is Best[] => Array.isArray(value) && value.every((one) => isAsked(one) && "score" in one && "at" in one);
const isSame = (one: LessonSettings, other: LessonSettings) =>
  one.kind === other.kind && one.book === other.book && one.layout === other.layout && one.level === other.level;

/** Newest first. */
export const bests = (): Best[] => (kept(BEST, areBests) ?? []).sort((one, other) => other.at - one.at);
export const bestOf = (asked: LessonSettings): number | null => bests().find((one) => isSame(one, asked))?.score ?? null;

/** Keeps a lesson's score if it is the best of its sort, and says whether it is. */
export function saveIfBest({ kind, book, layout, level }: LessonSettings, score: number, at: number): boolean {
  const asked = { kind, book, layout, level };
  const was = bestOf(asked);
  if (was !== null && was >= score) return false;
  localStorage.setItem(BEST, JSON.stringify([...bests().filter((one) => !isSame(one, asked)), { ...asked, score, at }]));
  return true;
}

/** What was practised last. */
export const lastChoice = (): LessonSettings | null => kept(LAST, isAsked);
export const saveLastChoice = (asked: LessonSettings): void => localStorage.setItem(LAST, JSON.stringify(asked));
