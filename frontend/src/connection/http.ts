// Over HTTP, in JSON: a refusal is thrown, in the same words as on the socket.
import type { RefusalTold } from "./messages";

export class Refused extends Error {
  readonly reason: string;
  readonly clause: string | null;
  readonly bet: string | null;
  /** What was expected and what came, where both are money, in minor units of the currency. */
  readonly sums: readonly number[];
  readonly currency: string;
  /** Whether the same may be answered otherwise in a moment: the server is busy. */
  readonly isTemporary: boolean;

  constructor(told: { reason: string; message: string; clause?: string | null; bet?: string | null; sums?: readonly number[]; status?: number }, currency = "") {
    super(told.message);
    this.isTemporary = told.reason === "too-often" || (told.status ?? 0) >= 500;
    this.sums = told.sums ?? [];
    this.currency = currency;
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

/** The same where nothing can have been done: it was only looked at. */
export class Unreachable extends Unanswered {}

/** Milliseconds for an answer over HTTP: a password alone takes a fifth of a second to check. */
const PATIENCE = 20_000;

interface Sent {
  body?: unknown;
  token?: string | undefined;
  /** Takes what is told with any status: a connection in trouble still says what it is. */
  isAnyStatus?: boolean;
}

function isRefusal(told: unknown): told is RefusalTold {
  return typeof told === "object" && told !== null && "reason" in told && "message" in told;
}

/** Asks; what cannot be reached, is cut off, or is answered by something that is no connection, is unanswered. */
export async function http<T>(method: "GET" | "POST" | "DELETE", path: string, sent: Sent = {}): Promise<T> {
  const { body, token, isAnyStatus = false } = sent;
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers["Authorization"] = `Bearer ${token}`;
  const lost = method === "GET" ? new Unreachable() : new Unanswered();
  let answer: Response;
  let told: unknown;
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    answer = await fetch(path, { method, headers, body: body === undefined ? null : JSON.stringify(body), signal });
    told = await answer.json();
  } catch {
    throw lost;
  }
  if (answer.ok) return told as T;
  if (isRefusal(told)) throw new Refused({ ...told, status: answer.status });
  if (isAnyStatus) return told as T;
  throw lost;
}
