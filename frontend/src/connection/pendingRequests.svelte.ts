// Requests without a reply. Each ends with a reply, a refusal, or `Unanswered`.
import { Refused, Unanswered } from "./http";
import type { AnyRequest, AnyServerMessage } from "./messages";

/**
 * Milliseconds after which a reply is overdue although the connection is alive. The request is sent again if that is
 * safe.
 */
export const OVERDUE = 15_000;

interface One {
  request: AnyRequest;
  isSafe: boolean;
  /** When it was sent last. */
  since: number;
  isLate: boolean;
  done: (tell: AnyServerMessage) => void;
  failed: (error: Error) => void;
}

export class Waiting {
  /** How many overdue requests were sent again. */
  late = $state(0);
  readonly #all = new Map<string, One>();

  get size(): number {
    return this.#all.size;
  }

  /** Waits for the reply to a request. A request that `isSafe` keeps waiting when the connection is lost. */
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

  /** The connection was lost. Safe requests keep waiting, except when it is lost for good. */
  cut(isForGood: boolean): void {
    for (const one of [...this.#all.values()]) if (isForGood || !one.isSafe) this.#giveUp(one);
  }

  /** All requests, to send again on a new connection. */
  all(): AnyRequest[] {
    return [...this.#all.values()].map((one) => {
      one.since = performance.now();
      return one.request;
    });
  }

  /** Overdue requests that may be sent again. The others fail as unanswered. */
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
