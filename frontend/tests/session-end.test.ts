// The end of a session: its page forgets the token and everything that was shown, whether or not the server is there.
import { render, screen, waitFor } from "@testing-library/svelte";
import { createRawSnippet } from "svelte";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { saveSession, session, signOut } from "../src/connection/identity";
import { loadLanguage } from "../src/i18n/index.svelte";
import StaffSession from "../src/shared/StaffSession.svelte";

class Socket {
  static all: Socket[] = [];
  sent: Record<string, unknown>[] = [];
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  isClosed = false;
  constructor() { Socket.all.push(this); }
  send(text: string): void { this.sent.push(JSON.parse(text) as Record<string, unknown>); }
  close(): void { this.isClosed = true; }
  tell(...tells: unknown[]): void { this.onmessage?.({ data: JSON.stringify(tells) }); }
}
const SHOWN = "the takings are 4,711.00";
const children = createRawSnippet(() => ({ render: () => `<p>${SHOWN}</p>` }));

beforeAll(() => loadLanguage("en"));
beforeEach(() => {
  Socket.all = [];
  vi.stubGlobal("WebSocket", Socket);
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ status: "ok", demonstration: false, tables: [] }))));
  saveSession({ token: "secret-token", role: "cashier", person: "Mia Ong" });
});
afterEach(() => { saveSession(null); vi.unstubAllGlobals(); });

async function shown(): Promise<Socket> {
  render(StaffSession, { role: "cashier", table: null, children });
  await waitFor(() => expect(document.body.textContent).toContain(SHOWN));
  const socket = Socket.all[0] as Socket;
  socket.tell({ type: "challenge", protocol: 2, nonce: "00", epoch: "e1", demonstration: false, now: Date.now(), pages: "" });
  await waitFor(() => expect(socket.sent.some((one) => one["type"] === "hello")).toBe(true));
  const hello = socket.sent.find((one) => one["type"] === "hello");
  socket.tell({ type: "welcome", to: hello?.["id"], role: "cashier", name: "Mia Ong" });
  await waitFor(() => expect(socket.sent.some((one) => one["type"] === "follow")).toBe(true));
  return socket;
}

it.each(["signed-out", "idle", "expired", "revoked"])("nothing stays on the page when the session has ended (%s)", async (why) => {
  const socket = await shown();
  socket.tell({ type: "end", why, message: `the session has ended (${why})` });
  await waitFor(() => expect(document.body.textContent).not.toContain("4,711"));
  await waitFor(() => expect(screen.getByTestId("first-sign-in")).toBeTruthy(), { timeout: 4_000 });
  expect(screen.getByTestId("session-over").textContent).toContain("has ended");
  expect(document.body.textContent).not.toContain("Mia Ong");
  expect(session()).toBeNull();
  expect(JSON.stringify([{ ...sessionStorage }, { ...localStorage }])).not.toContain("secret-token");
  expect(socket.isClosed).toBe(true);
});

it("the token is forgotten also when the server does not answer the sign-out", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("offline")));
  await signOut();
  expect(session()).toBeNull();
  expect(JSON.stringify({ ...sessionStorage })).not.toContain("secret-token");
});
