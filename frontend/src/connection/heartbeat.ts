// Detects a dead connection: after a silence the page pings the server, and without a reply the connection is lost. The
// browser hides the server's own WebSocket pings from scripts, so a dead connection looks like a quiet one.

/** Milliseconds of silence before a ping; fewer while a reply is pending. */
export const QUIET = 5_000;
export const QUIET_WHILE_WAITING = 1_000;
/** Milliseconds to wait for any message after a ping. */
export const ANSWER_WITHIN = 3_000;
/** Milliseconds between two checks. */
export const LOOKS = 500;
/** Milliseconds after which the page asks for the server's time, even if messages keep arriving. */
const CLOCK = 60_000;

export class Heartbeat {
  #heardAt = 0;
  #askedAt = 0;
  #lookedAt = 0;
  #within = ANSWER_WITHIN;
  #isAsking = false;

  /** The connection opened. */
  begin(): void {
    this.#heardAt = this.#askedAt = this.#lookedAt = performance.now();
    this.#isAsking = false;
  }

  /** A message arrived. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#isAsking = false;
  }

  /** A ping was just sent. */
  asked(within = ANSWER_WITHIN): void {
    this.#askedAt = performance.now();
    this.#within = within;
    this.#isAsking = true;
  }

  /** What to do next. A page that was asleep heard nothing meanwhile, so it pings first. */
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
