// Asks that wait for their answer: each gets one, a refusal, or the word that nobody knows.
import { Refused, Unanswered } from "./http";
import type { AnyRequest, AnyServerMessage } from "./messages";

/** Milliseconds after which an answer is overdue, though the server is there: the request is in doubt, or made again. */
export const OVERDUE = 15_000;

interface One {
  request: AnyRequest;
  isSafe: boolean;
  /** When it was made, or made again. */
  since: number;
  isLate: boolean;
  done: (tell: AnyServerMessage) => void;
  failed: (error: Error) => void;
}

export class Waiting {
  /** How many are in doubt and have been asked again. */
  late = $state(0);
  readonly #all = new Map<string, One>();

  get size(): number {
    return this.#all.size;
  }

  /** The answer to a request, whenever it comes; one that `isSafe` waits over any number of cuts. */
  wait(request: AnyRequest, isSafe: boolean): Promise<AnyServerMessage> {
    return new Promise((done, failed) => {
      this.#all.set(request.id, { request, isSafe, since: performance.now(), isLate: false, done, failed });
    });
  }

  answered(tell: AnyServerMessage, currency: string | undefined): void {
    const one = "to" in tell && tell.to ? this.#all.get(tell.to) : undefined;
    if (!one) return;
    this.#forget(one);
    if (tell.type === "refused") one.failed(new Refused(tell, currency));
    else one.done(tell);
  }

  /** The line is cut: what may be asked again waits on, unless it is cut for good. */
  cut(isForGood: boolean): void {
    for (const one of [...this.#all.values()]) if (isForGood || !one.isSafe) this.#giveUp(one);
  }

  /** Everything, to be asked on a new line. */
  all(): AnyRequest[] {
    return [...this.#all.values()].map((one) => {
      one.since = performance.now();
      return one.request;
    });
  }

  /** What is overdue and may be asked again; of the rest nobody knows. */
  overdue(): AnyRequest[] {
    const before = performance.now() - OVERDUE;
    const late = [...this.#all.values()].filter((one) => one.since <= before);
    const mayBeAgain = (one: One) => one.isSafe || one.request.type === "follow";
    for (const one of late) if (!mayBeAgain(one)) this.#giveUp(one);
    return late.filter(mayBeAgain).map((one) => {
      if (!one.isLate) this.late += 1;
      one.isLate = true;
      one.since = performance.now();
      return one.request;
    });
  }

  #giveUp(one: One): void {
    this.#forget(one);
    one.failed(new Unanswered());
  }

  #forget(one: One): void {
    this.#all.delete(one.request.id);
    if (one.isLate) this.late -= 1;
  }
}
