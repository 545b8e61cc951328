// What someone asks the floor for, alone or with a second person: where the floor wants one it says so, and he is
// asked for then.
import { approved, type Proof } from "../parts/second";
import type { Asked, Floor } from "../wire/floor.svelte";
import { Refused } from "../wire/http";
import type { AnyCommand, AnyTell } from "../wire/messages";

interface Waiting {
  ask: object;
  /** What he agrees to, in words. */
  what: string;
  done: (approval: string | null) => void;
}

export class Acting {
  /** What a second person is wanted for. */
  waiting = $state.raw<Waiting | null>(null);
  readonly floor: Floor;
  readonly token: string;
  readonly isDemonstration: boolean;

  constructor(floor: Floor, token: string, isDemonstration: boolean) {
    this.floor = floor;
    this.token = token;
    this.isDemonstration = isDemonstration;
  }

  /** Asks; a refusal is thrown. Null where no second person agreed. */
  async send(ask: Asked, what: string, takesTwo = false): Promise<AnyTell | null> {
    if (!takesTwo) {
      try {
        return await this.floor.send(ask);
      } catch (error) {
        if (!(error instanceof Refused && error.reason === "second-person")) throw error;
      }
    }
    const approval = await this.approval(ask, what);
    return approval === null ? null : this.floor.send({ ...ask, approval } as Asked);
  }

  do(table: string | null, command: AnyCommand, what: string, takesTwo = false): Promise<AnyTell | null> {
    return this.send({ ask: "do", do: command, ...(table === null ? {} : { table }) } as Asked, what, takesTwo);
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
