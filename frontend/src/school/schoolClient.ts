// The school's side of a lesson: it makes exercises and judges answers. Nothing of either is known here.
import { http, Refused } from "../connection/http";
import type { ExerciseResponse, FeltView, JudgedResponse, SchoolAnswer, SchoolResponse } from "../connection/messages";

export const KINDS = ["settle", "key", "ruling"] as const;
export type Kind = (typeof KINDS)[number];

/** What a lesson is about; with a seed it is one exercise. */
export interface LessonSettings {
  kind: Kind;
  book: string;
  layout: string;
  level: number;
}

/** What is answered, by the kind of exercise; which exercise it was and how long it took comes with it. */
export type Reply =
  | { kind: "settle"; returned: number[] }
  | { kind: "key"; faces: number[]; lit: string[] }
  | { kind: "ruling"; choice: string };

export class SchoolClient {
  readonly #token: string | undefined;
  readonly #ended: () => void;
  readonly #felts = new Map<string, Promise<FeltView>>();

  /** `ended` is called when the session is over, and somebody has to sign in again. */
  constructor(token: string | undefined, ended: () => void) {
    this.#token = token;
    this.#ended = ended;
  }

  school(): Promise<SchoolResponse> {
    return this.#request<SchoolResponse>("GET", "/api/school");
  }

  felt(book: string, layout: string): Promise<FeltView> {
    const name = `${book}/${layout}`;
    const known = this.#felts.get(name);
    if (known) return known;
    const asked = this.#request<FeltView>("GET", `/api/school/felt?${new URLSearchParams({ book, layout })}`);
    this.#felts.set(name, asked);
    asked.catch(() => this.#felts.delete(name));
    return asked;
  }

  exercise(asked: LessonSettings, seed: number): Promise<ExerciseResponse> {
    return this.#request<ExerciseResponse>("GET", `/api/school/exercise?${asWords(asked, seed)}`);
  }

  judge(asked: LessonSettings, seed: number, took: number, reply: Reply): Promise<JudgedResponse> {
    const answer = { ...asked, ...reply, seed, took } satisfies Omit<SchoolAnswer, "kind"> & Reply;
    return this.#request<JudgedResponse>("POST", "/api/school/answer", answer);
  }

  async #request<T>(method: "GET" | "POST", path: string, body?: unknown): Promise<T> {
    try {
      return await http<T>(method, path, { token: this.#token, ...(body === undefined ? {} : { body }) });
    } catch (error) {
      if (error instanceof Refused && error.reason === "signed-out") this.#ended();
      throw error;
    }
  }
}

function asWords(asked: LessonSettings, seed: number): URLSearchParams {
  return new URLSearchParams({ ...asked, level: String(asked.level), seed: String(seed) });
}

/** Where the same exercise is found again, by anyone. */
export const exerciseLink = (asked: LessonSettings, seed: number): string => `/school?${asWords(asked, seed)}`;
