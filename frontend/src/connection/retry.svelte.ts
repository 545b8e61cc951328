// Retries what a page needs before it can start, because one lost reply must not leave it blank. A refusal is thrown.
import { Refused, Unanswered } from "./http";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 5_000;

/** How many requests failed and will be retried. */
export const unanswered = $state({ many: 0 });

/** Milliseconds before the next try: longer each time, and random so that pages do not retry together. */
export function backoff(tries: number, first = FIRST_WAIT, longest = LONGEST_WAIT): number {
  return Math.min(longest, first * 2 ** tries) * (0.75 + Math.random() / 2);
}

/** Whether a failure is temporary: no reply, or a busy server. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof Unanswered || (error instanceof Refused && error.isTemporary);

const passed = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds));

export async function retryUntilAnswered<T>(work: () => Promise<T>): Promise<T> {
  let tries = 0;
  try {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isTemporary(error)) throw error;
        if (tries === 0) unanswered.many += 1;
        await passed(backoff(tries));
        tries += 1;
      }
    }
  } finally {
    if (tries > 0) unanswered.many -= 1;
  }
}
