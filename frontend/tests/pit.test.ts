// The supervisor's own logic: which offers belong together, and asking with a second person.
import { afterEach, expect, test, vi } from "vitest";
import { Acting } from "../src/pit/acting.svelte";
import { decisionsOn, endsOf, filledBlanks, isGrave, keyOf, left, once, onItem, treatmentOnly } from "../src/pit/offers";
import type { RequestBody, Floor } from "../src/connection/floor.svelte";
import { Refused, Unanswered } from "../src/connection/http";
import type { Blank, Offer, ReferralLine } from "../src/connection/messages";

const words = (en: string) => ({ en, zh: en });
const offer = (command: string, preset: object): Offer =>
  ({ command, preset, blanks: [], by: ["shift-manager"], clause: "6.1", label: words(command), then: null, main: false }) as Offer;
const referral = { id: "r1", subject: "other", label: words("Something else"), clause: "6.1", to: "shift-manager", holds: true, seat: null, round: 3 } as ReferralLine;

test("a question has the decisions that are about it, and no others", () => {
  const mine = offer("decide-referral", { referral: "r1", treatment: "void" });
  const acts = [mine, offer("decide-referral", { referral: "r2", treatment: "void" }), offer("shut", {}), offer("settle-claim", { claim: "r1", how: "waive" })];
  expect(decisionsOn(acts, referral)).toEqual([mine]);
  expect(endsOf(acts, "r1").map((one) => one.command)).toEqual(["settle-claim"]);
  expect(onItem([offer("inspect", { item: "dice" }), offer("remove-item", {})], "dice")).toHaveLength(1);
});

test("a decision is named without its question, in either language", () => {
  expect(treatmentOnly("Something else: The round is void", "Something else")).toBe("The round is void");
  expect(treatmentOnly("其他：本局作废", "其他")).toBe("本局作废");
  expect(treatmentOnly("The round is void", "Something else")).toBe("The round is void");
});

test("what voids a round or stops a table is marked", () => {
  expect(isGrave(offer("decide-referral", { treatment: "void-rounds" }))).toBe(true);
  expect(isGrave(offer("close-table", {}))).toBe(true);
  expect(isGrave(offer("decide-referral", { treatment: "continue" }))).toBe(false);
});

test("a second person is no field of a form", () => {
  const blanks = [{ field: "reason", kind: "text" }, { field: "second", kind: "second" }] as Blank[];
  expect(filledBlanks(blanks).map((blank) => blank.field)).toEqual(["reason"]);
});

test("dice have hours and minutes left, or are over", () => {
  expect(left(7_500_000, 0)).toEqual({ isOver: false, hours: 2, minutes: 5 });
  expect(left(0, 60_000)).toEqual({ isOver: true, hours: 0, minutes: 1 });
  expect(left(5, 5).isOver).toBe(true);
});

// With a second person

const ASK = { type: "take-drop", table: "T1" } as RequestBody;
const floorThat = (send: (ask: RequestBody & { approval?: string }) => Promise<unknown>): Floor => ({ send: vi.fn(send), newId: () => `n-${(made += 1)}` }) as unknown as Floor;
let made = 0;
const twoNeeded = () => Promise.reject(new Refused({ reason: "second-person", message: "expected a second person, got nobody" }));

afterEach(() => { vi.unstubAllGlobals(); sessionStorage.clear(); });

test("what one may do alone is asked for once", async () => {
  const floor = floorThat(() => Promise.resolve({ type: "done" }));
  const acting = new Acting(floor, "token", true);
  expect(await acting.send(ASK, "the box leaves")).toEqual({ type: "done" });
  expect(floor.send).toHaveBeenCalledTimes(1);
  expect(acting.waiting).toBeNull();
});

test("where the floor wants a second person he is asked for, and his word goes with the ask", async () => {
  const asked = vi.fn(async (_path: string, _init: RequestInit) => new Response(JSON.stringify({ approval: "yes", until: 1 })));
  vi.stubGlobal("fetch", asked);
  const floor = floorThat((ask) => (ask.approval === "yes" ? Promise.resolve({ type: "done" }) : twoNeeded()));
  const acting = new Acting(floor, "token", true);
  const told = acting.send(ASK, "the box leaves");
  await vi.waitFor(() => expect(acting.waiting?.what).toBe("the box leaves"));
  await acting.agreed(null);
  expect(await told).toEqual({ type: "done" });
  expect(asked.mock.calls[0]?.[0]).toBe("/api/demo/agree");
  expect(JSON.parse(String(asked.mock.calls[0]?.[1].body))).toEqual({ request: ASK });
});

test("nothing is asked for where no second person agrees", async () => {
  const floor = floorThat(() => Promise.resolve({ type: "done" }));
  const acting = new Acting(floor, "token", false);
  const told = acting.send(ASK, "the box leaves", true);
  acting.declined();
  expect(await told).toBeNull();
  expect(floor.send).not.toHaveBeenCalled();
});

test("a proof that is wrong leaves room for the right one", async () => {
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ reason: "wrong", message: "no" }), { status: 401 }));
  const acting = new Acting(floorThat(() => Promise.resolve({})), "token", false);
  void acting.send(ASK, "the box leaves", true);
  await expect(acting.agreed({ person: "Pat", password: "x", code: "1" })).rejects.toThrow("no");
  expect(acting.waiting).not.toBeNull();
});

test("any other refusal is thrown as it is", async () => {
  const acting = new Acting(floorThat(() => Promise.reject(new Refused({ reason: "late", message: "too late" }))), "token", true);
  await expect(acting.send(ASK, "the box leaves")).rejects.toThrow("too late");
  expect(acting.waiting).toBeNull();
});

test("an offer that is made twice is shown once", () => {
  const twice = [offer("remove-item", { item: "dice" }), offer("remove-item", { item: "dice" }), offer("remove-item", {})];
  expect(once(twice).map(keyOf)).toEqual(['remove-item {"item":"dice"}', "remove-item {}"]);
});

// One id for one intent

type Sent = [RequestBody & { do?: { id?: string } }, { isSafe?: boolean; id?: string } | undefined];
const sent = (floor: Floor) => vi.mocked(floor.send).mock.calls as unknown as Sent[];
const FILL = { type: "fill", table: "T1", amount: 500 } as RequestBody;
const cut = () => Promise.reject(new Unanswered());

test("what was cut off is asked for again under the same id, also by a page that was loaded anew", async () => {
  const floor = floorThat(cut);
  await expect(new Acting(floor, "token", true).send(FILL, "a fill")).rejects.toBeInstanceOf(Unanswered);
  const again = floorThat(() => Promise.resolve({ type: "done", again: true }));
  // It may be done already: nobody has to agree anew before the floor has said so.
  expect(await new Acting(again, "token", true).send(FILL, "a fill", true)).toMatchObject({ again: true });
  expect(sent(again)[0]?.[1]).toMatchObject({ isSafe: true, id: sent(floor)[0]?.[1]?.id });
});

test("what was answered, done or refused, is another deed the next time", async () => {
  const floor = floorThat((ask) => ((ask as { amount?: number }).amount === 500 ? Promise.resolve({ type: "done" }) : Promise.reject(new Refused({ reason: "float-short", message: "no" }))));
  const acting = new Acting(floor, "token", true);
  for (let turn = 0; turn < 2; turn += 1) await acting.send(FILL, "a fill");
  for (let turn = 0; turn < 2; turn += 1) await acting.send({ ...FILL, amount: 1 } as RequestBody, "a fill").catch(() => undefined);
  expect(new Set(sent(floor).map(([, more]) => more?.id)).size).toBe(4);
});

test("a second press while it waits asks for nothing more", async () => {
  let answer = (_told: unknown): void => undefined;
  const floor = floorThat(() => new Promise((done) => { answer = done; }));
  const acting = new Acting(floor, "token", true);
  const both = [acting.send(FILL, "a fill"), acting.send(FILL, "a fill")];
  answer({ type: "done" });
  await Promise.all(both);
  expect(floor.send).toHaveBeenCalledTimes(1);
});

test("the owners' money goes under the intent's own id", async () => {
  const floor = floorThat(cut);
  const acting = new Acting(floor, "token", true);
  for (let turn = 0; turn < 2; turn += 1) await acting.do(null, { command: "bring-in", amount: 700 } as never, "700").catch(() => undefined);
  const ids = sent(floor).map(([ask]) => ask.do?.id);
  expect(ids[0]).toBeTruthy();
  expect(new Set(ids).size).toBe(1);
});

test("an act of the round, which nobody knows by an id, is never sent again by itself", async () => {
  const floor = floorThat(cut);
  await new Acting(floor, "token", true).do("T1", { command: "shut", reason: "x" } as never, "shut").catch(() => undefined);
  expect(sent(floor)[0]?.[1]?.isSafe ?? false).toBe(false);
});
