// A line that may be dead, a connection that may be busy: what a page does about it, and what it never does.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { unanswered, retryUntilAnswered } from "../src/connection/retry.svelte";
import { serverNow } from "../src/connection/clock.svelte";
import { Connection, type Identity } from "../src/connection/connection.svelte";
import { http, Refused, Unanswered, Unreachable } from "../src/connection/http";
import { isDemonstration, saveSession, session } from "../src/connection/identity";
import { ANSWER_WITHIN, QUIET, QUIET_WHILE_WAITING } from "../src/connection/heartbeat";
import { OVERDUE } from "../src/connection/pendingRequests.svelte";

/** A socket that the server may answer at, or not. */
class Socket {
  static all: Socket[] = [];
  sent: Record<string, unknown>[] = [];
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  isClosed = false;
  isDead = false;
  constructor() { Socket.all.push(this); }
  send(text: string): void {
    const request = JSON.parse(text) as Record<string, unknown>;
    this.sent.push(request);
    if (request["type"] === "ping" && !this.isDead) this.tell({ type: "pong", to: request["id"], now: Date.now() });
  }
  close(): void { this.isClosed = true; } // nobody says farewell on a dead line
  tell(...tells: unknown[]): void { this.onmessage?.({ data: JSON.stringify(tells) }); }
  asks(kind: string): Record<string, unknown>[] { return this.sent.filter((one) => one["type"] === kind); }
}
const latest = () => Socket.all[Socket.all.length - 1] as Socket;
const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const challenge = (socket = latest()) => { socket.tell({ type: "challenge", protocol: 2, nonce: "00", epoch: "e1", demonstration: false, now: Date.now(), pages: "" }); return passes(0); };
const REFUSED = { type: "refused", reason: "not-known", message: "expected an enrolled device" };

async function welcomed(socket = latest()): Promise<void> {
  await challenge(socket);
  socket.tell({ type: "welcome", to: socket.asks("hello")[0]?.["id"], role: "terminal", name: "T1" });
  await passes(0);
}
const floors: Connection[] = [];
function dialled(who: Identity): Connection {
  const connection = new Connection(who);
  floors.push(connection);
  return connection;
}
async function connected(): Promise<Connection> {
  const connection = dialled({ token: "t" });
  await welcomed();
  return connection;
}
const dismissed = (why: string) => latest().tell({ type: "end", why, message: `expected better, got ${why}` });

beforeEach(() => {
  vi.useFakeTimers();
  Socket.all = [];
  vi.stubGlobal("WebSocket", Socket);
});
afterEach(() => { for (const one of floors.splice(0)) one.close(); vi.unstubAllGlobals(); });

describe("a line that says nothing", () => {
  it("is asked whether anyone is there, and is kept while someone is", async () => {
    const connection = await connected();
    await passes(4 * QUIET);
    expect(connection.state).toBe("open");
    expect(Socket.all).toHaveLength(1);
    expect(latest().asks("ping").length).toBeLessThanOrEqual(4);
    expect(latest().asks("ping").length).toBeGreaterThanOrEqual(3);
  });
  it("is not asked while it talks", async () => {
    await connected();
    for (let second = 0; second < 20; second += 1) {
      latest().tell({ type: "following", to: "x", feed: "f", number: 1 });
      await passes(1_000);
    }
    expect(latest().asks("ping")).toEqual([]);
  });
  it("is lost within seconds, is let go without a farewell, and dialled again", async () => {
    const connection = await connected();
    latest().isDead = true;
    await passes(QUIET + ANSWER_WITHIN + 1_000);
    expect(connection.state).not.toBe("open");
    expect(Socket.all[0]?.isClosed).toBe(true);
    await passes(1_000);
    expect(Socket.all).toHaveLength(2);
    await welcomed();
    expect(connection.state).toBe("open");
  });
  it("is lost sooner where an answer is waited for; who asked knows that nobody knows", async () => {
    const connection = await connected();
    latest().isDead = true;
    const asked = expect(connection.do("T", { command: "close-table" })).rejects.toBeInstanceOf(Unanswered);
    await passes(QUIET_WHILE_WAITING + ANSWER_WITHIN + 1_000);
    await asked;
    expect(connection.state).toBe("lost");
  });
  it("is asked at once where the device says that it is offline, and is not lost for that alone", async () => {
    const connection = await connected();
    dispatchEvent(new Event("offline"));
    await passes(3_000);
    expect(latest().asks("ping")).toHaveLength(1);
    expect(connection.state).toBe("open");
    latest().isDead = true;
    dispatchEvent(new Event("offline"));
    await passes(2_100);
    expect(connection.state).toBe("lost");
  });
  it("is dialled at once when there is a network again", async () => {
    const connection = await connected();
    for (let cut = 0; cut < 5; cut += 1) { latest().onclose?.(); await passes(6_300); }
    latest().onclose?.();
    const many = Socket.all.length;
    dispatchEvent(new Event("online"));
    expect(Socket.all).toHaveLength(many + 1);
    connection.close();
    dispatchEvent(new Event("online"));
    expect(Socket.all).toHaveLength(many + 1);
  });
  it("that is dialled and never answers is given up, and dialled again", async () => {
    dialled({ token: "t" });
    await passes(12_000);
    expect(Socket.all.length).toBeGreaterThanOrEqual(2);
    expect(Socket.all[0]?.isClosed).toBe(true);
  });
});

describe("an answer that does not come though the server is there", () => {
  it("is asked for again under the same id where that is safe, and said to be in doubt", async () => {
    const connection = await connected();
    const asked = connection.send({ type: "books" }, { isSafe: true, id: "mine-1" });
    await passes(OVERDUE + 1_000);
    expect(latest().asks("books").map((one) => one["id"])).toEqual(["mine-1", "mine-1"]);
    expect(connection.waiting.late).toBe(1);
    latest().tell({ type: "done", to: "mine-1", again: true });
    await expect(asked).resolves.toMatchObject({ again: true });
    expect(connection.waiting.late).toBe(0);
  });
  it("is given up where it is not: nobody knows", async () => {
    const connection = await connected();
    const asked = expect(connection.do("T", { command: "close-table" })).rejects.toBeInstanceOf(Unanswered);
    await passes(OVERDUE + 1_000);
    await asked;
    expect(connection.state).toBe("open");
    expect(latest().asks("do")).toHaveLength(1);
  });
});

describe("ends", () => {
  it.each(["full", "silent", "stopped", "slow", "resync"])("after '%s' it comes back, and is who it was", async (why) => {
    const connection = await connected();
    dismissed(why);
    latest().onclose?.();
    expect(connection.state).toBe("lost");
    await passes(1_000);
    await welcomed();
    expect(connection.state).toBe("open");
  });
  it("after 'replaced' it waits for its person, whatever the network does, and then takes the connection back", async () => {
    const connection = dialled({ device: "P1" });
    await welcomed();
    dismissed("replaced");
    latest().onclose?.();
    await passes(60_000);
    dispatchEvent(new Event("online"));
    document.dispatchEvent(new Event("visibilitychange"));
    await passes(60_000);
    expect(connection.state).toBe("replaced");
    expect(Socket.all).toHaveLength(1);
    connection.again();
    connection.again();
    await welcomed();
    expect(connection.state).toBe("open");
    expect(Socket.all).toHaveLength(2);
  });
  it.each(["signed-out", "idle", "expired", "revoked"])("after '%s' it has to sign in", async (why) => {
    const connection = await connected();
    dismissed(why);
    latest().onclose?.();
    await passes(30_000);
    expect(connection.state).toBe("unknown");
    expect(Socket.all).toHaveLength(1);
  });
  it("a connection that is full is asked less and less often", async () => {
    dialled({ token: "t" });
    const at: number[] = [];
    for (let tries = 0; tries < 6; tries += 1) {
      at.push(performance.now());
      const many = Socket.all.length;
      dismissed("full");
      latest().onclose?.();
      while (Socket.all.length === many) await passes(50);
    }
    const waits = at.slice(1).map((one, place) => one - (at[place] ?? 0));
    expect(waits[0]).toBeLessThan(500);
    expect(waits[4]).toBeGreaterThan(2_000);
  });
  it("a busy connection does not say who somebody is", async () => {
    const connection = dialled({ token: "t" });
    await challenge();
    latest().tell({ ...REFUSED, reason: "too-often", to: latest().asks("hello")[0]?.["id"] });
    await passes(1_000);
    expect(connection.state).toBe("lost");
    await welcomed();
    expect(connection.state).toBe("open");
  });
  it("a device that is not enrolled comes in by itself when it is", async () => {
    const connection = dialled({ device: "T-77" });
    for (let tries = 0; tries < 3; tries += 1) {
      await challenge();
      latest().tell({ ...REFUSED, to: latest().asks("hello")[0]?.["id"] });
      await passes(0);
      expect([connection.state, connection.why]).toEqual(["unknown", "expected an enrolled device"]);
      await passes(6_500);
    }
    expect(Socket.all).toHaveLength(4);
    await welcomed();
    expect(connection.state).toBe("open");
  });
});

describe("the server's clock", () => {
  it("is set again by every sign of life", async () => {
    await connected();
    const before = serverNow();
    vi.setSystemTime(Date.now() + 60_000); // the server's own here: it has been put right
    await passes(QUIET + 1_000);
    expect(Math.round((serverNow() - before) / 1_000)).toBe(66);
  });
});

describe("over HTTP", () => {
  const answers = (...told: (Response | Error)[]) => {
    const many = vi.fn(() => { const next = told.shift(); return next instanceof Error || !next ? Promise.reject(next ?? new Error("no more")) : Promise.resolve(next); });
    vi.stubGlobal("fetch", many);
    return many;
  };
  const json = (told: object, status = 200) => new Response(JSON.stringify(told), { status });

  it("what is no connection's answer is no refusal", async () => {
    answers(new TypeError("Failed to fetch"), new Response("<html>Bad gateway</html>", { status: 502 }), json({ error: "proxy" }, 503), json({ reason: "late", message: "expected before" }, 409));
    await expect(http("GET", "/x")).rejects.toBeInstanceOf(Unreachable);
    const posted = http("POST", "/x");
    await expect(posted).rejects.toBeInstanceOf(Unanswered);
    await expect(posted).rejects.not.toBeInstanceOf(Unreachable);
    await expect(http("GET", "/x")).rejects.toBeInstanceOf(Unreachable);
    await expect(http("GET", "/x")).rejects.toMatchObject({ reason: "late", isTemporary: false });
  });
  it("is asked until there is an answer, and a refusal that stands is thrown", async () => {
    const asked = answers(new TypeError("Failed to fetch"), json({ reason: "too-often", message: "expected less" }, 429), json({ reason: "not-known", message: "no" }, 404));
    const told = expect(retryUntilAnswered(() => http("GET", "/x"))).rejects.toBeInstanceOf(Refused);
    await passes(100);
    expect(unanswered.many).toBe(1);
    await passes(10_000);
    await told;
    expect(asked).toHaveBeenCalledTimes(3);
    expect(unanswered.many).toBe(0);
  });
  it("a page learns what it is in, however often that fails at first, and also from a connection in trouble", async () => {
    answers(new Response("<html>", { status: 502 }), json({ error: "proxy" }, 503), json({ status: "trouble", demonstration: true }, 503));
    const is = isDemonstration();
    await passes(10_000);
    expect(await is).toBe(true);
  });
});

describe("a session", () => {
  it.each(["{bad", "7", '{"token": 1}', "null", '"x"'])("that is kept as %s is none", (kept) => {
    sessionStorage.setItem("taisai-session", kept);
    expect(session()).toBeNull();
  });
  it("that is whole is there again", () => {
    saveSession({ token: "t", role: "dealer", person: "Dan" });
    expect(session()).toMatchObject({ token: "t", person: "Dan" });
  });
});

describe("a table that is not open", () => {
  const refuses = (feed: string) => { const asks = latest().asks("follow").filter((one) => one["feed"] === feed).at(-1); latest().tell({ type: "refused", to: asks?.["id"], reason: "not-known", message: `unknown feed '${feed}'` }); return passes(0); };
  it("is waited for, and its page goes on by itself when it opens", async () => {
    const connection = await connected();
    let isOpen = false;
    void connection.follow("table:SB1").then(() => { isOpen = true; });
    await passes(0);
    await refuses("table:SB1");
    expect([...connection.unopened]).toEqual(["SB1"]);
    await passes(3_000);
    const again = latest().asks("follow").filter((one) => one["feed"] === "table:SB1");
    expect(again).toHaveLength(2);
    latest().tell({ type: "snapshot", to: again[1]?.["id"], feed: "table:SB1", number: 1, view: { of: "table" } });
    await passes(0);
    expect(isOpen).toBe(true);
    expect(connection.unopened.size).toBe(0);
  });
  it("is not asked for again by a page that was closed", async () => {
    const connection = await connected();
    const refused = connection.follow("console:SB1").catch((error: unknown) => error);
    await passes(0);
    await refuses("console:SB1");
    connection.close();
    await passes(3_000);
    expect(await refused).toBeInstanceOf(Refused);
  });
  it("is refused at once where it is no table's feed", async () => {
    const connection = await connected();
    const refused = connection.follow("seat:SB1/7").catch((error: unknown) => error);
    await passes(0);
    await refuses("seat:SB1/7");
    expect(await refused).toBeInstanceOf(Refused);
    expect(connection.unopened.size).toBe(0);
  });
});
