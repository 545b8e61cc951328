// A second person: what one may not do alone waits until another approves it, for exactly this request, once: in
// their own session, or here with their own passkey. Nobody types a password or a code of theirs here.
import type { RequestBody, Connection } from "../connection/connection.svelte";
import { passkeyProof } from "../account/passkeys";
import { http } from "../connection/http";
import type { AnyServerMessage, ApprovalResponse, ApprovalsView, Blank, OwnApprovalLine } from "../connection/messages";

/** The feed of what waits for approval. */
export const APPROVALS = "approvals";

interface Waiting {
  id: string;
  /** What the second person approves, in words. */
  what: string;
  done: (approval: string | null) => void;
}

/** Whether an offer, by its blanks, needs a second person. */
export const needsSecondPerson = (blanks: readonly Blank[]): boolean => blanks.some((blank) => blank.kind === "second");

export class SecondPersonRequests {
  /** What this page waits for. */
  waiting = $state.raw<Waiting | null>(null);
  /** What became of it; none until the server has shown it. */
  readonly line: OwnApprovalLine | undefined = $derived.by(() => this.#lineOf(this.waiting?.id));
  /** Whether the server has shown it: if it is gone afterwards, it is over. */
  #isKnown = false;
  #following: Promise<void> | null = null;
  readonly connection: Connection;
  readonly token: string;
  readonly isDemonstration: boolean;

  constructor(connection: Connection, token: string, isDemonstration: boolean) {
    this.connection = connection;
    this.token = token;
    this.isDemonstration = isDemonstration;
  }

  /** Asks for the approval of exactly this request; null if nobody gives it. */
  async ask(request: object, what: string): Promise<string | null> {
    this.#following ??= this.connection.follow(APPROVALS, () => this.#look());
    await this.#following;
    const { approval } = await http<ApprovalResponse>("POST", "/api/approvals", { body: { request }, token: this.token });
    this.close();
    return new Promise((done) => {
      this.#isKnown = false;
      this.waiting = { id: approval, what, done };
      this.#look();
    });
  }

  /** Stops waiting, and withdraws what still waits. */
  close(): void {
    const { waiting } = this;
    if (!waiting) return;
    if (!this.#isOver(waiting.id)) void http("DELETE", `/api/approvals/${waiting.id}`, { token: this.token }).catch(() => undefined);
    this.waiting = null;
    waiting.done(null);
  }

  /** A second person who is here approves with their own passkey. */
  async approvedHere(person: string): Promise<void> {
    const path = `/api/approvals/${this.waiting?.id ?? ""}` as const;
    const proof = await passkeyProof(`${path}/challenge`, this.token);
    if (proof) await http("POST", `${path}/approve-here`, { body: { person, ...proof }, token: this.token });
  }

  /** In a demonstration a virtual supervisor approves. */
  async virtualApproves(): Promise<void> {
    if (this.waiting) await http("POST", "/api/demo/agree", { body: { approval: this.waiting.id }, token: this.token });
  }

  /** Whether nobody can approve it any more. */
  get isOver(): boolean {
    return this.waiting !== null && this.#isOver(this.waiting.id);
  }

  #isOver(id: string): boolean {
    const line = this.#lineOf(id);
    return line ? line.state === "declined" || line.state === "expired" : this.#isKnown;
  }

  #lineOf(id: string | undefined): OwnApprovalLine | undefined {
    const view = this.connection.views?.get(APPROVALS) as ApprovalsView | undefined;
    return view?.own.find((line) => line.id === id);
  }

  #look(): void {
    const { waiting } = this;
    const line = this.#lineOf(waiting?.id);
    if (!waiting || !line) return;
    this.#isKnown = true;
    if (line.state !== "approved") return;
    this.waiting = null;
    waiting.done(line.id);
  }
}

/** Sends a request that a second person has approved. */
export const sendApproved = (connection: Connection, request: RequestBody, approval: string): Promise<AnyServerMessage> =>
  connection.send({ ...request, approval } as RequestBody);
