// The connection: it comes back by itself, feeds go on where they were, and no bet is ever in doubt.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { changed } from "../src/connection/changes";
import { serverNow } from "../src/connection/clock.svelte";
import { Connection } from "../src/connection/connection.svelte";
import { Refused, Unanswered } from "../src/connection/http";
import type { AnyChanges, AnyServerMessage, AnyView, SeatView } from "../src/connection/messages";
import { isStale } from "../src/connection/upgrade";

class Socket {
  static readonly OPEN = 1;
  static all: Socket[] = [];
  sent: Record<string, unknown>[] = [];
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  constructor(readonly address: string) { Socket.all.push(this); }
  send(text: string): void { this.sent.push(JSON.parse(text) as Record<string, unknown>); }
  close(): void { this.onclose?.(); }
  tell(...tells: unknown[]): void { this.onmessage?.({ data: JSON.stringify(tells) }); }
  asks(kind: string): Record<string, unknown>[] { return this.sent.filter((one) => one["type"] === kind); }
}
const latest = () => Socket.all[Socket.all.length - 1] as Socket;
const settled = () => vi.advanceTimersByTimeAsync(0);
const SEAT = { of: "seat", seat: "1", credits: 500, at_risk: 0, bets: [] } as unknown as SeatView;
const challenge = (epoch = "e1", more = {}) => ({ type: "challenge", protocol: 2, nonce: "00", epoch, demonstration: false, now: Date.now() + 5_000, pages: "", ...more });

async function welcomed(socket: Socket, epoch = "e1"): Promise<void> {
  socket.tell(challenge(epoch));
  await settled();
  socket.tell({ type: "welcome", to: socket.asks("hello")[0]?.["id"], role: "terminal", name: "T1", table: "T", seat: "1" });
  await settled();
}

beforeEach(() => {
  vi.useFakeTimers();
  Socket.all = [];
  vi.stubGlobal("WebSocket", Socket);
});

describe("coming in", () => {
  it("says hello with its token, and is welcomed", async () => {
    const connection = new Connection({ token: "secret" });
    expect(connection.state).toBe("connecting");
    await welcomed(latest());
    expect(latest().asks("hello")[0]).toMatchObject({ protocol: 2, token: "secret" });
    expect(connection.state).toBe("open");
    expect(Math.round((serverNow() - Date.now()) / 1000)).toBe(5);
    vi.setSystemTime(Date.now() + 3_600_000); // somebody sets the device's clock
    expect(Math.round((Date.now() - serverNow()) / 1000)).toBe(3_595);
  });
  it("stays out where it is not known, and says why", async () => {
    const connection = new Connection({ token: "old" });
    latest().tell(challenge());
    await settled();
    latest().tell({ type: "refused", to: latest().asks("hello")[0]?.["id"], reason: "not-known", message: "expected a session" });
    await settled();
    expect(connection.state).toBe("unknown");
    expect(connection.why).toBe("expected a session");
    latest().close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(Socket.all).toHaveLength(1);
  });
});

describe("feeds", () => {
  async function following(): Promise<Connection> {
    const connection = new Connection({ token: "t" });
    await welcomed(latest());
    const done = connection.follow("seat:T/1");
    const request = latest().asks("follow")[0];
    latest().tell({ type: "snapshot", to: request?.["id"], feed: "seat:T/1", number: 3, view: SEAT });
    await done;
    return connection;
  }
  const change = (number: number, changes: unknown) => ({ type: "change", feed: "seat:T/1", number, changes });

  it("are current after every change", async () => {
    const connection = await following();
    latest().tell(change(4, { of: "seat", credits: 400, at_risk: 100, placed: [{ id: "b", area: "small", stake: 100 }] }));
    expect(connection.views.get("seat:T/1")).toMatchObject({ credits: 400, bets: [{ id: "b" }] });
  });
  it("start anew where a change is missing", async () => {
    const connection = await following();
    latest().tell(change(6, { of: "seat", credits: 1 }));
    expect((connection.views.get("seat:T/1") as SeatView).credits).toBe(500);
    expect(latest().asks("follow")).toHaveLength(2);
    expect(latest().asks("follow")[1]).not.toHaveProperty("after");
  });
  it("go on from their last number after a cut", async () => {
    const connection = await following();
    latest().close();
    expect(connection.state).toBe("lost");
    await vi.advanceTimersByTimeAsync(1_000);
    await welcomed(latest());
    expect(latest().asks("follow")[0]).toMatchObject({ feed: "seat:T/1", epoch: "e1", after: 3 });
  });
  it("start from a snapshot where the server counts anew", async () => {
    await following();
    latest().close();
    await vi.advanceTimersByTimeAsync(1_000);
    await welcomed(latest(), "e2");
    expect(latest().asks("follow")[0]).not.toHaveProperty("after");
  });
});

describe("asks", () => {
  it("are answered or refused", async () => {
    const connection = new Connection({ token: "t" });
    await welcomed(latest());
    const refused = connection.do("T", { command: "close-table" });
    latest().tell({ type: "refused", to: latest().asks("do")[0]?.["id"], reason: "late", message: "too late", clause: "5.1" });
    await expect(refused).rejects.toBeInstanceOf(Refused);
    await expect(refused).rejects.toMatchObject({ reason: "late", clause: "5.1" });
  });
  it("that are not safe to repeat are unanswered after a cut", async () => {
    const connection = new Connection({ token: "t" });
    await welcomed(latest());
    const asked = connection.do("T", { command: "close-table" });
    asked.catch(() => undefined);
    latest().close();
    await expect(asked).rejects.toBeInstanceOf(Unanswered);
  });
  it("that are safe are asked again under the same id, until they are answered", async () => {
    const connection = new Connection({ token: "t" });
    await welcomed(latest());
    const bets = [{ id: "b1", area: "small", stake: 100 }];
    const asked = connection.do("T", { command: "place-bets", round: 1, seat: "1", bets }, { isSafe: true });
    const first = latest().asks("do")[0];
    for (let cut = 0; cut < 3; cut += 1) {
      const closed = latest();
      closed.close();
      while (latest() === closed) await vi.advanceTimersByTimeAsync(100); // how long it waits is left to chance
      await welcomed(latest());
      expect(latest().asks("do")).toEqual([first]);
    }
    latest().tell({ type: "done", to: first?.["id"], again: true });
    await expect(asked).resolves.toMatchObject({ type: "done", again: true } satisfies Partial<AnyServerMessage>);
  });
});

describe("changes", () => {
  const seat = { ...SEAT, bets: [{ id: "a", area: "big", stake: 5 }, { id: "b", area: "odd", stake: 5 }] } as AnyView;
  it("take bets away and add others, in that order", () => {
    const next = changed(seat, { of: "seat", gone: ["a"], placed: [{ id: "c", area: "even", stake: 1 }] } as unknown as AnyChanges);
    expect((next as SeatView).bets.map((bet) => bet.id)).toEqual(["b", "c"]);
    const cleared = changed(seat, { of: "seat", cleared: true } as unknown as AnyChanges);
    expect((cleared as SeatView).bets).toEqual([]);
    expect(changed(seat, { of: "seat", credits: 9 } as unknown as AnyChanges)).toMatchObject({ credits: 9, bets: [{ id: "a" }, { id: "b" }] });
  });
});

describe("an upgrade", () => {
  it("is seen by a page that was made from other sources, once", () => {
    document.head.innerHTML = '<meta name="taisai-pages" content="old">';
    expect(isStale("old")).toBe(false);
    expect(isStale("")).toBe(false);
    expect(isStale("new")).toBe(true);
    sessionStorage.setItem("taisai-reloaded-for", "new");
    expect(isStale("new")).toBe(false);
  });
});
