// Who this page is. A demonstration assigns a role; in a real house staff sign in and devices are enrolled.
import { retryUntilAnswered } from "./retry.svelte";
import { deviceKey } from "./device";
import type { Identity } from "./connection.svelte";
import { http, latestToken, replaceToken, Unreachable } from "./http";
import type { EnterResponse, HealthResponse, SignInResponse } from "./messages";

export interface Place {
  table: string | null;
  seat: string | null;
}

const asked = new URLSearchParams(location.search);

/** A parameter of the page's address. */
export const fromAddress = (name: string): string | null => asked.get(name);

/** Stores a parameter in the page's address, so that it survives a reload. */
export function setInAddress(name: string, value: string): void {
  asked.set(name, value);
  history.replaceState(null, "", `${location.pathname}?${asked}`);
}

let looked: Promise<boolean> | null = null;

async function look(): Promise<boolean> {
  const { demonstration } = await http<HealthResponse>("GET", "/health", { isAnyStatus: true });
  if (typeof demonstration !== "boolean") throw new Unreachable(); // something other than our server replied
  return demonstration;
}

/** Whether this is a demonstration, where every role is open. Retries until the server replies. */
export function isDemonstration(): Promise<boolean> {
  looked ??= retryUntilAnswered(look).catch((error: unknown) => {
    looked = null;
    throw error;
  });
  return looked;
}

/** Enters a demonstration in a role, at a table if the role has one. */
export const enter = (role: string, table: string | null, key?: string): Promise<EnterResponse> =>
  http<EnterResponse>("POST", "/api/demo/enter", { body: { role, ...(table ? { table } : {}), ...(key ? { key } : {}) } });

/**
 * A terminal or display with its name and key. A demonstration assigns it a seat; elsewhere it is the device that an
 * administrator enrolled under the name in the address.
 */
export async function device(role: "player" | "display", table: string | null): Promise<Identity & { name: string; open: string }> {
  let slot = asked.get("device");
  if (await isDemonstration()) {
    slot ??= crypto.randomUUID();
    const key = await deviceKey(slot);
    const entered = await enter(role, table, key.open);
    setInAddress("device", slot);
    return { device: entered.device ?? "", key: key.secret, name: entered.name, open: key.open };
  }
  const name = slot ?? "";
  const key = await deviceKey(name);
  return { device: name, key: key.secret, name, open: key.open };
}

const TOKEN = "taisai-session";

interface Session {
  token: string;
  role: string;
  person: string;
  /** The table of a demonstration's session: the virtual person in that role gives way there. */
  table?: string | null;
}

/** The session of this tab, or null if nobody is signed in. */
export function session(): Session | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(TOKEN) ?? "null") as Partial<Session> | null;
    const isWhole = [kept?.token, kept?.role, kept?.person].every((one) => typeof one === "string");
    return isWhole ? (kept as Session) : null;
  } catch {
    return null; // the stored session is damaged: nobody is signed in
  }
}

export function saveSession(session: Session | null): void {
  if (session) sessionStorage.setItem(TOKEN, JSON.stringify(session));
  else sessionStorage.removeItem(TOKEN);
}

/** Takes the new token of a session, if a reply has one. Its page goes on with it, and a reload too. */
export function renewSession(token: string, next: string | null | undefined): void {
  if (!next) return;
  replaceToken(token, next);
  const known = session();
  if (known && latestToken(known.token) === next) saveSession({ ...known, token: next });
}

/** A demonstration's session in a role; reuses the session of this tab if it is for the same role and table. */
export async function staff(role: string, table: string | null): Promise<Session> {
  const known = session();
  if (known?.role === role && (known.table ?? null) === table) return known;
  const entered = await enter(role, table);
  const made = { token: entered.token ?? "", role, person: entered.name, table };
  saveSession(made);
  return made;
}

export async function signIn(person: string, password: string, code: string): Promise<Session> {
  return signedIn(await http<SignInResponse>("POST", "/api/sign-in", { body: { person, password, code } }));
}

export async function signInByPasskey(person: string, proof: { challenge: string; assertion: object }): Promise<Session> {
  return signedIn(await http<SignInResponse>("POST", "/api/passkeys/sign-in", { body: { person, ...proof } }));
}

function signedIn(told: SignInResponse): Session {
  const made = { token: told.token, role: told.session.role, person: told.session.person };
  saveSession(made);
  return made;
}

export async function signOut(): Promise<void> {
  const known = session();
  saveSession(null);
  if (known) await http("POST", "/api/sign-out", { token: known.token }).catch(() => undefined);
}
