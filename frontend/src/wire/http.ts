// Over HTTP, in JSON: a refusal is thrown, in the same words as on the socket.
import type { RefusalTold } from "./messages";

export class Refused extends Error {
  readonly reason: string;
  readonly clause: string | null;
  readonly bet: string | null;

  constructor(told: { reason: string; message: string; clause?: string | null; bet?: string | null }) {
    super(told.message);
    this.reason = told.reason;
    this.clause = told.clause ?? null;
    this.bet = told.bet ?? null;
  }
}

/** The connection went while an answer was waited for: nobody knows yet. */
export class Unanswered extends Error {
  constructor() {
    super("expected an answer, got none: the connection is gone");
  }
}

interface Sent {
  body?: unknown;
  token?: string | undefined;
}

export async function http<T>(method: "GET" | "POST" | "DELETE", path: string, { body, token }: Sent = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers["Authorization"] = `Bearer ${token}`;
  const answer = await fetch(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  const told: unknown = await answer.json();
  if (!answer.ok) throw new Refused(told as RefusalTold);
  return told as T;
}
