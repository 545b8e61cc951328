// What a lesson came to: adding up, and which areas or rulings went wrong most often.
import type { ExerciseResponse, JudgedResponse, Words } from "../connection/messages";

export interface Done {
  exercise: ExerciseResponse;
  judged: JudgedResponse;
}

/** Something that was asked about: an area, an irregularity, or the faces themselves, which have no words of the server's. */
export interface Weak {
  id: string;
  label: Words | null;
  clause: string | null;
  wrong: number;
  of: number;
}

export const FACES_KEYED = "faces";
export const isAllCorrect = (judged: JudgedResponse): boolean => judged.right === judged.of;
export const scoreOf = (done: readonly Done[]): number => done.reduce((sum, one) => sum + one.judged.score, 0);

/** How many in a row, up to the last, were all right. */
export function streakOf(done: readonly Done[]): number {
  const wrong = done.findLastIndex((one) => !isAllCorrect(one.judged));
  return done.length - 1 - wrong;
}

interface Line { id: string; label: Words | null; clause: string | null; right: boolean }

function linesOf({ exercise, judged }: Done): Line[] {
  if (judged.kind === "settle") return judged.bets.map((bet) => ({ ...bet, id: bet.area }));
  if (judged.kind === "key") {
    const areas = judged.areas.map((area) => ({ ...area, id: area.area }));
    return [{ id: FACES_KEYED, label: null, clause: null, right: judged.faces_right }, ...areas];
  }
  if (exercise.kind !== "ruling") return [];
  return [{ id: exercise.irregularity, label: exercise.label, clause: judged.clause, right: judged.chosen === judged.ordered }];
}

/** What went wrong, most often first. */
export function weakest(done: readonly Done[], most = 5): Weak[] {
  const all = new Map<string, Weak>();
  for (const line of done.flatMap(linesOf)) {
    const was = all.get(line.id) ?? { id: line.id, label: line.label, clause: line.clause, wrong: 0, of: 0 };
    // The clause of the mistake says more than that of what was right.
    all.set(line.id, { ...was, clause: line.right ? was.clause : line.clause, wrong: was.wrong + (line.right ? 0 : 1), of: was.of + 1 });
  }
  return [...all.values()].filter((one) => one.wrong > 0).sort((a, b) => b.wrong - a.wrong || b.wrong / b.of - a.wrong / a.of).slice(0, most);
}

/** The areas or rulings that an exercise visibly asks about before it is answered. */
export function asksAbout(exercise: ExerciseResponse): string[] {
  if (exercise.kind === "settle") return exercise.bets.map((bet) => bet.area);
  return exercise.kind === "ruling" ? [exercise.irregularity] : [];
}

/** The exercise that asks about the most weak points; the first of several. */
export function mostRelevant(weak: ReadonlySet<string>, exercises: readonly ExerciseResponse[]): ExerciseResponse | undefined {
  const many = (one: ExerciseResponse) => asksAbout(one).filter((id) => weak.has(id)).length;
  return exercises.reduce<ExerciseResponse | undefined>((best, one) => (best && many(best) >= many(one) ? best : one), undefined);
}
