// Sends requests of staff. If the server requires a second person, the page asks for one and sends the request again.
import { SecondPersonRequests } from "../shared/secondPerson.svelte";
import type { RequestBody, Connection } from "../connection/connection.svelte";
import { Refused, Unanswered } from "../connection/http";
import type { AnyCommand, AnyServerMessage } from "../connection/messages";
import { answered, digestOf, idOf, isOpen } from "./unansweredRequests";

/** Requests that the server recognises by their id, so that a repeated one is carried out once. */
const KNOWN_BY_ID: ReadonlySet<string> = new Set([
  "sell-ticket", "redeem-ticket", "fill", "take-credit", "take-drop", "count-drop", "settle-claim", "bring-in", "take-out",
]);

const kindOf = (request: RequestBody): string => (request.type === "do" ? request.do.command : request.type);

/** The request as it is sent: the owners' money has an id of its own, which is the intent's. */
function named(request: RequestBody, meant: string, connection: Connection): RequestBody {
  if (request.type !== "do" || (request.do.command !== "bring-in" && request.do.command !== "take-out")) return request;
  return { ...request, do: { ...request.do, id: idOf(meant, () => connection.newId()) } };
}

export class StaffRequests {
  readonly second: SecondPersonRequests;
  readonly connection: Connection;
  readonly token: string;
  readonly isDemonstration: boolean;
  /** What is being asked for: it is waited for, however often the button is pressed. */
  readonly #asked = new Map<string, Promise<AnyServerMessage | null>>();

  constructor(connection: Connection, token: string, isDemonstration: boolean) {
    this.connection = connection;
    this.token = token;
    this.isDemonstration = isDemonstration;
    this.second = new SecondPersonRequests(connection, token, isDemonstration);
  }

  /** Asks; a refusal is thrown. Null where no second person agreed. What is asked for already is not asked for twice. */
  send(request: RequestBody, what: string, needsTwo = false): Promise<AnyServerMessage | null> {
    const meant = JSON.stringify(request);
    const asked = this.#asked.get(meant) ?? this.#send(request, what, needsTwo).finally(() => this.#asked.delete(meant));
    this.#asked.set(meant, asked);
    return asked;
  }

  do(table: string | null, command: AnyCommand, what: string, needsTwo = false): Promise<AnyServerMessage | null> {
    return this.send({ type: "do", do: command, ...(table === null ? {} : { table }) } as RequestBody, what, needsTwo);
  }

  async #send(request: RequestBody, what: string, needsTwo: boolean): Promise<AnyServerMessage | null> {
    const meant = KNOWN_BY_ID.has(kindOf(request)) ? await digestOf(request) : ""; // any other is sent at once
    // An unanswered request may have been carried out. Then the server says so, and nobody needs to approve again.
    if (!needsTwo || isOpen(meant)) {
      try {
        return await this.#once(request, meant);
      } catch (error) {
        if (!(error instanceof Refused && error.reason === "second-person")) throw error;
      }
    }
    const approval = await this.approval(named(request, meant, this.connection), what);
    return approval === null ? null : this.#once(request, meant, approval);
  }

  /** Uses one id until the server replies. A request that the server does not recognise by its id is sent once only. */
  async #once(request: RequestBody, meant: string, approval?: string): Promise<AnyServerMessage> {
    const isSafe = KNOWN_BY_ID.has(kindOf(request));
    const whole = { ...named(request, meant, this.connection), ...(approval ? { approval } : {}) } as RequestBody;
    if (!isSafe) return this.connection.send(whole);
    try {
      const tell = await this.connection.send(whole, { isSafe, id: idOf(meant, () => this.connection.newId()) });
      answered(meant);
      return tell;
    } catch (error) {
      // What is not witnessed may be booked: the same request has to be sent again under its id.
      const isOpenStill = error instanceof Refused && (error.reason === "second-person" || error.reason === "unwitnessed");
      const isAnswered = !(error instanceof Unanswered) && !isOpenStill;
      if (isAnswered) answered(meant);
      throw error;
    }
  }

  /** A second person's approval of exactly this request; null if nobody gives it. */
  approval(request: object, what: string): Promise<string | null> {
    return this.second.ask(request, what);
  }
}
