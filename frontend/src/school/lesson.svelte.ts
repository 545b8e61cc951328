// A lesson: ten exercises, one after another, each answered once. It is there again after a reload.
import type { ExerciseResponse, FeltView, JudgedResponse } from "../connection/messages";
import { type Done, isAllCorrect, mostRelevant, scoreOf, streakOf, weakest } from "./results";
import { randomSeed } from "./seeds";
import type { LessonSettings, Reply, SchoolClient } from "./schoolClient";

export const LENGTH = 10;
export const FULL_MARKS = 100;
const KEPT = "taisai-school-lesson";
/** In a drill as many exercises are looked at before one is taken, and as many come again. */
const LOOKED_AT = 4;
const AGAIN = 4;

interface Plan {
  asked: LessonSettings;
  /** The exercises that are settled beforehand; the others are drawn when they come. */
  seeds: number[];
  /** What a drill is about; empty in any other lesson. */
  weak: string[];
  isDrill: boolean;
}
interface Kept extends Plan {
  done: Done[];
  seed: number | null;
  begun: number;
}

export class Lesson {
  readonly plan: Plan;
  readonly #client: SchoolClient;
  readonly #longest: number;
  done = $state.raw<readonly Done[]>([]);
  exercise = $state.raw<ExerciseResponse | null>(null);
  judged = $state.raw<JudgedResponse | null>(null);
  felt = $state.raw<FeltView | null>(null);
  /** When the exercise was shown. */
  begun = $state(0);
  isOver = $state(false);
  isBusy = $state(false);
  readonly score = $derived(scoreOf(this.done));
  readonly streak = $derived(streakOf(this.done));

  constructor(client: SchoolClient, plan: Plan, longest: number) {
    this.#client = client;
    this.plan = plan;
    this.#longest = longest;
  }

  get asked(): LessonSettings {
    return this.plan.asked;
  }

  /** The lesson that this tab was in, as far as it came. */
  static kept(client: SchoolClient, longest: number): Lesson | null {
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null") as Kept | null;
      if (!kept) return null;
      const lesson = new Lesson(client, { asked: kept.asked, seeds: kept.seeds, weak: kept.weak, isDrill: kept.isDrill }, longest);
      lesson.done = kept.done;
      lesson.begun = kept.begun;
      lesson.#going = kept.seed;
      return lesson;
    } catch {
      sessionStorage.removeItem(KEPT);
      return null;
    }
  }

  /** The exercise that was being done before a reload. */
  #going: number | null = null;

  static forget(): void {
    sessionStorage.removeItem(KEPT);
  }

  /** The next exercise, or the end. */
  async next(): Promise<void> {
    if (this.isBusy || (this.exercise && !this.judged)) return;
    if (this.done.length >= LENGTH) {
      this.isOver = true;
      Lesson.forget();
      return;
    }
    this.isBusy = true;
    try {
      const { kind, book, layout } = this.asked;
      if (kind !== "ruling") this.felt ??= await this.#client.felt(book, layout);
      const going = this.#going;
      const exercise = going === null ? await this.#draw() : await this.#client.exercise(this.asked, going);
      this.#going = null;
      this.judged = null;
      this.exercise = exercise;
      // The clock runs on over a reload: who looks twice has looked longer.
      if (going === null) this.begun = Date.now();
      this.#keep(exercise.seed);
    } finally {
      this.isBusy = false;
    }
  }

  /** Answers the exercise; what it is worth the school says. */
  async answer(reply: Reply): Promise<void> {
    const exercise = this.exercise;
    if (!exercise || this.judged || this.isBusy) return;
    this.isBusy = true;
    try {
      const took = Math.min(this.#longest, Math.max(0, Math.round(Date.now() - this.begun)));
      this.judged = await this.#client.judge(this.asked, exercise.seed, took, reply);
      this.done = [...this.done, { exercise, judged: this.judged }];
      this.#keep(null);
    } finally {
      this.isBusy = false;
    }
  }

  /** A lesson about the mistakes of this one: some exercises again, then new ones about the same areas or rulings. */
  drill(): Plan {
    const missed = this.done.filter((one) => !isAllCorrect(one.judged)).sort((a, b) => a.judged.score - b.judged.score);
    return {
      asked: this.asked,
      seeds: missed.slice(0, AGAIN).map((one) => one.exercise.seed),
      weak: weakest(this.done).map((one) => one.id),
      isDrill: true,
    };
  }

  async #draw(): Promise<ExerciseResponse> {
    const given = this.plan.seeds[this.done.length];
    if (given !== undefined) return this.#client.exercise(this.asked, given);
    const many = this.plan.weak.length > 0 && this.asked.kind !== "key" ? LOOKED_AT : 1;
    const drawn = await Promise.all(Array.from({ length: many }, () => this.#client.exercise(this.asked, randomSeed())));
    const taken = mostRelevant(new Set(this.plan.weak), drawn);
    if (!taken) throw new Error("no exercise is open");
    return taken;
  }

  #keep(seed: number | null): void {
    const kept: Kept = { ...this.plan, done: [...this.done], seed, begun: this.begun };
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  }
}
