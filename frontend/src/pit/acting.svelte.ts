// What someone asks the floor for, alone or with a second person: where the floor wants one it says so, and he is
// asked for then.
import { approved, type Proof } from "../parts/second";
import type { Asked, Floor } from "../wire/floor.svelte";
import { Refused, Unanswered } from "../wire/http";
import type { AnyCommand, AnyTell } from "../wire/messages";
import { answered, idOf, isOpen } from "./intents";

/** What the floor knows by the id of its ask, or of its command: the same again is the same deed. */
const KNOWN_BY_ID: ReadonlySet<string> = new Set([
  "sell-ticket", "redeem-ticket", "fill", "take-credit", "take-drop", "count-drop", "settle-claim", "bring-in", "take-out",
]);

interface Waiting {
  ask: object;
  /** What he agrees to, in words. */
  what: string;
  done: (approval: string | null) => void;
}

const kindOf = (ask: Asked): string => (ask.ask === "do" ? ask.do.command : ask.ask);

/** The ask as it is sent: the owners' money has an id of its own, which is the intent's. */
function named(ask: Asked, meant: string, floor: Floor): Asked {
  if (ask.ask !== "do" || (ask.do.command !== "bring-in" && ask.do.command !== "take-out")) return ask;
  return { ...ask, do: { ...ask.do, id: idOf(meant, () => floor.newId()) } };
}

export class Acting {
  /** What a second person is wanted for. */
  waiting = $state.raw<Waiting | null>(null);
  readonly floor: Floor;
  readonly token: string;
  readonly isDemonstration: boolean;
  /** What is being asked for: it is waited for, however often the button is pressed. */
  readonly #asked = new Map<string, Promise<AnyTell | null>>();

  constructor(floor: Floor, token: string, isDemonstration: boolean) {
    this.floor = floor;
    this.token = token;
    this.isDemonstration = isDemonstration;
  }

  /** Asks; a refusal is thrown. Null where no second person agreed. What is asked for already is not asked for twice. */
  send(ask: Asked, what: string, takesTwo = false): Promise<AnyTell | null> {
    const meant = JSON.stringify(ask);
    const asked = this.#asked.get(meant) ?? this.#send(ask, meant, what, takesTwo).finally(() => this.#asked.delete(meant));
    this.#asked.set(meant, asked);
    return asked;
  }

  do(table: string | null, command: AnyCommand, what: string, takesTwo = false): Promise<AnyTell | null> {
    return this.send({ ask: "do", do: command, ...(table === null ? {} : { table }) } as Asked, what, takesTwo);
  }

  async #send(ask: Asked, meant: string, what: string, takesTwo: boolean): Promise<AnyTell | null> {
    // What was asked for and not answered may be done: then the floor says so, and nobody has to agree again.
    if (!takesTwo || isOpen(meant)) {
      try {
        return await this.#once(ask, meant);
      } catch (error) {
        if (!(error instanceof Refused && error.reason === "second-person")) throw error;
      }
    }
    const approval = await this.approval(named(ask, meant, this.floor), what);
    return approval === null ? null : this.#once(ask, meant, approval);
  }

  /** Under one id for as long as it is not answered; where the floor knows nothing by an id, once and no more. */
  async #once(ask: Asked, meant: string, approval?: string): Promise<AnyTell> {
    const isSafe = KNOWN_BY_ID.has(kindOf(ask));
    const whole = { ...named(ask, meant, this.floor), ...(approval ? { approval } : {}) } as Asked;
    if (!isSafe) return this.floor.send(whole);
    try {
      const tell = await this.floor.send(whole, { isSafe, id: idOf(meant, () => this.floor.newId()) });
      answered(meant);
      return tell;
    } catch (error) {
      const isAnswered = !(error instanceof Unanswered) && !(error instanceof Refused && error.reason === "second-person");
      if (isAnswered) answered(meant);
      throw error;
    }
  }

  /** A second person's word on exactly this; null where he does not give it. */
  approval(ask: object, what: string): Promise<string | null> {
    this.waiting?.done(null);
    return new Promise((done) => { this.waiting = { ask, what, done }; });
  }

  /** A proof that is wrong is thrown, and the next one may be right. */
  async agreed(proof: Proof | null): Promise<void> {
    const { waiting } = this;
    if (!waiting) return;
    const approval = await approved(waiting.ask as Asked, this.token, proof);
    this.waiting = null;
    waiting.done(approval);
  }

  declined(): void {
    this.waiting?.done(null);
    this.waiting = null;
  }
}
