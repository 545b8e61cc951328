// HTTP requests in JSON. A refusal is thrown, with the same text as on the socket.
import type { RefusalResponse } from "./messages";

export class Refused extends Error {
  readonly reason: string;
  readonly clause: string | null;
  readonly bet: string | null;
  /** The expected and the received amount in minor units, where both are money. */
  readonly sums: readonly number[];
  readonly currency: string;
  /** Whether a retry may succeed soon because the server is only busy. */
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

/** The connection was lost before the reply: the request may or may not have been carried out. */
export class Unanswered extends Error {
  constructor() {
    super("no answer: the connection was lost");
  }
}

/** The same for a request that only reads, so nothing can have been changed. */
export class Unreachable extends Unanswered {}

/** Milliseconds to wait for an HTTP reply; checking a password alone takes a fifth of a second. */
const PATIENCE = 20_000;

interface Sent {
  body?: unknown;
  token?: string | undefined;
  /** Accepts any status: a server with a problem still describes it. */
  isAnyStatus?: boolean;
}

function isRefusal(told: unknown): told is RefusalResponse {
  return typeof told === "object" && told !== null && "reason" in told && "message" in told;
}

const newer = new Map<string, string>();

/** The token that a session has now: a person who proves again who they are gets a new one. */
export function latestToken(token: string): string {
  const next = newer.get(token);
  return next === undefined ? token : latestToken(next);
}

/** Notes that a session has a new token. */
export function replaceToken(token: string, next: string): void {
  newer.set(latestToken(token), next);
}

/**
 * Sends a request. If the server cannot be reached, or something else answers, it throws `Unanswered` or
 * `Unreachable`.
 */
export async function http<T>(method: "GET" | "POST" | "DELETE", path: string, sent: Sent = {}): Promise<T> {
  const { body, token, isAnyStatus = false } = sent;
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers["Authorization"] = `Bearer ${latestToken(token)}`;
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
