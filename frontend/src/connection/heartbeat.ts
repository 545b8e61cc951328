// Whether anyone is at the other end of a line: after a silence the server is asked, and if it says nothing it is lost.
// What the server sends to keep a socket open never reaches a script, so a dead line looks like a quiet one.

/** Milliseconds without a word after which the server is asked; where something is waited for, sooner. */
export const QUIET = 5_000;
export const QUIET_WHILE_WAITING = 1_000;
/** Milliseconds in which it says something, whatever it is. */
export const ANSWER_WITHIN = 3_000;
/** Milliseconds between two looks. */
export const LOOKS = 500;
/** Milliseconds after which it is asked what time it is, even if it talks all the time. */
const CLOCK = 60_000;

export class Heartbeat {
  #heardAt = 0;
  #askedAt = 0;
  #lookedAt = 0;
  #within = ANSWER_WITHIN;
  #isAsking = false;

  /** A line is there. */
  begin(): void {
    this.#heardAt = this.#askedAt = this.#lookedAt = performance.now();
    this.#isAsking = false;
  }

  /** It said something. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#isAsking = false;
  }

  /** It was asked just now whether it is there. */
  asked(within = ANSWER_WITHIN): void {
    this.#askedAt = performance.now();
    this.#within = within;
    this.#isAsking = true;
  }

  /** What there is to do. A page that slept has not listened either: it asks anew. */
  look(isWaiting: boolean): "nothing" | "ask" | "lost" {
    const now = performance.now();
    const hasSlept = now - this.#lookedAt > 4 * LOOKS;
    this.#lookedAt = now;
    if (this.#isAsking) {
      if (hasSlept) return "ask";
      return now - this.#askedAt >= this.#within ? "lost" : "nothing";
    }
    const silence = now - this.#heardAt;
    return silence >= (isWaiting ? QUIET_WHILE_WAITING : QUIET) || now - this.#askedAt >= CLOCK ? "ask" : "nothing";
  }
}
