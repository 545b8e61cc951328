// The supervisor's own logic: which offers belong together, and asking with a second person.
import { SvelteMap } from "svelte/reactivity";
import { afterEach, expect, test, vi } from "vitest";
import { StaffRequests } from "../src/pit/staffRequests.svelte";
import { answersOn, decisionsOn, claimOffers, formBlanks, isSevere, keyOf, left, once, itemOffers, treatmentOnly } from "../src/pit/offers";
import type { RequestBody, Connection } from "../src/connection/connection.svelte";
import { Refused, Unanswered } from "../src/connection/http";
import type { Blank, Offer, OwnApprovalLine, ReferralLine } from "../src/connection/messages";

const words = (en: string) => ({ en, zh: en });
const offer = (command: string, preset: object): Offer =>
  ({ command, preset, blanks: [], by: ["shift-manager"], clause: "6.1", label: words(command), then: null, final: null, main: false }) as Offer;
const referral = { id: "r1", subject: "other", label: words("Something else"), clause: "6.1", to: "shift-manager", holds: true, seat: null, round: 3 } as ReferralLine;

test("a question has the decisions that are about it, and no others", () => {
  const mine = offer("decide-referral", { referral: "r1", treatment: "void" });
  const acts = [mine, offer("decide-referral", { referral: "r2", treatment: "void" }), offer("shut", {}), offer("settle-claim", { claim: "r1", how: "waive" })];
  expect(decisionsOn(acts, referral)).toEqual([mine]);
  expect(claimOffers(acts, "r1").map((one) => one.command)).toEqual(["settle-claim"]);
  expect(itemOffers([offer("inspect", { item: "dice" }), offer("remove-item", {})], "dice")).toHaveLength(1);
});

test("a report has the two answers that are about it", () => {
  const mine = [offer("confirm-report", { report: "h1" }), offer("contest-report", { report: "h1" })];
  expect(answersOn([...mine, offer("confirm-report", { report: "h2" })], "h1")).toEqual(mine);
});

test("a decision is named without its question, in either language", () => {
  expect(treatmentOnly("Something else: The round is void", "Something else")).toBe("The round is void");
  expect(treatmentOnly("其他：本局作废", "其他")).toBe("本局作废");
  expect(treatmentOnly("The round is void", "Something else")).toBe("The round is void");
});

test("what cannot be undone or stops a table is marked", () => {
  expect(isSevere({ ...offer("decide-referral", { treatment: "void-rounds" }), final: words("This cannot be undone: …") })).toBe(true);
  expect(isSevere(offer("shut", {}))).toBe(true);
  expect(isSevere(offer("decide-referral", { treatment: "continue" }))).toBe(false);
});

test("a second person is no field of a form", () => {
  const blanks = [{ field: "reason", kind: "text" }, { field: "second", kind: "second" }] as Blank[];
  expect(formBlanks(blanks).map((blank) => blank.field)).toEqual(["reason"]);
});

test("dice have hours and minutes left, or are over", () => {
  expect(left(7_500_000, 0)).toEqual({ isOver: false, hours: 2, minutes: 5 });
  expect(left(0, 60_000)).toEqual({ isOver: true, hours: 0, minutes: 1 });
  expect(left(5, 5).isOver).toBe(true);
});

// With a second person

const ASK = { type: "take-drop", table: "T1" } as RequestBody;
interface Floor extends Connection { shows: (...own: Partial<OwnApprovalLine>[]) => void }
const floorThat = (send: (request: RequestBody & { approval?: string }) => Promise<unknown>): Floor => {
  const views = new SvelteMap<string, unknown>();
  let heard = (): void => undefined;
  return {
    send: vi.fn(send), newId: () => `n-${(made += 1)}`, views, follow: async (_feed: string, listener: () => void) => { heard = listener; },
    shows: (...own: object[]) => { views.set("approvals", { of: "approvals", waiting: [], own }); heard(); },
  } as unknown as Floor;
};
let made = 0;
const twoNeeded = () => Promise.reject(new Refused({ reason: "second-person", message: "expected a second person, got nobody" }));

afterEach(() => { vi.unstubAllGlobals(); sessionStorage.clear(); });

test("what one may do alone is asked for once", async () => {
  const connection = floorThat(() => Promise.resolve({ type: "done" }));
  const requests = new StaffRequests(connection, "token", true);
  expect(await requests.send(ASK, "the box leaves")).toEqual({ type: "done" });
  expect(connection.send).toHaveBeenCalledTimes(1);
  expect(requests.second.waiting).toBeNull();
});

/** Answers requests over HTTP, and keeps them. */
function http(): [string, string, unknown][] {
  const asked: [string, string, unknown][] = [];
  vi.stubGlobal("fetch", async (path: string, { method, body }: { method: string; body: string | null }) => {
    asked.push([method, path, body ? JSON.parse(body) : null]);
    return new Response(JSON.stringify({ approval: "a1", until: 1, done: true }));
  });
  return asked;
}

test("asks for a second person when the server requires one, and sends what they approved, once", async () => {
  const asked = http();
  const connection = floorThat((request) => (request.approval === "a1" ? Promise.resolve({ type: "done" }) : twoNeeded()));
  const requests = new StaffRequests(connection, "token", true);
  const told = requests.send(ASK, "the box leaves");
  await vi.waitFor(() => expect(requests.second.waiting?.what).toBe("the box leaves"));
  connection.shows({ id: "other", state: "approved" }, { id: "a1", state: "waiting" });
  expect(requests.second.waiting?.id).toBe("a1");
  await requests.second.virtualApproves();
  connection.shows({ id: "a1", state: "approved" });
  connection.shows({ id: "a1", state: "approved" });
  expect(await told).toEqual({ type: "done" });
  expect(asked).toEqual([["POST", "/api/approvals", { request: ASK }], ["POST", "/api/demo/agree", { approval: "a1" }]]);
  expect(connection.send).toHaveBeenCalledTimes(2);
});

test("what is given up is withdrawn, and nothing is asked for", async () => {
  const asked = http();
  const connection = floorThat(() => Promise.resolve({ type: "done" }));
  const requests = new StaffRequests(connection, "token", false);
  const told = requests.send(ASK, "the box leaves", true);
  await vi.waitFor(() => expect(requests.second.waiting).not.toBeNull());
  requests.second.close();
  expect(await told).toBeNull();
  expect(asked.at(-1)).toEqual(["DELETE", "/api/approvals/a1", null]);
  expect(connection.send).not.toHaveBeenCalled();
});

test.each(["declined", "expired", "gone"])("what is %s stays on the page until it is read, and is not sent", async (state) => {
  const asked = http();
  const connection = floorThat(() => Promise.resolve({ type: "done" }));
  const requests = new StaffRequests(connection, "token", false);
  const told = requests.send(ASK, "the box leaves", true);
  await vi.waitFor(() => expect(requests.second.waiting).not.toBeNull());
  expect(requests.second.isOver).toBe(false);
  connection.shows({ id: "a1", state: "waiting" });
  connection.shows(...(state === "gone" ? [] : [{ id: "a1", state }]));
  expect(requests.second.isOver).toBe(true);
  requests.second.close();
  expect(await told).toBeNull();
  expect(asked).toHaveLength(1);
  expect(connection.send).not.toHaveBeenCalled();
});

test("a request for approval that is refused is thrown", async () => {
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ reason: "too-many", message: "no" }), { status: 429 }));
  const requests = new StaffRequests(floorThat(() => Promise.resolve({})), "token", false);
  await expect(requests.send(ASK, "the box leaves", true)).rejects.toThrow("no");
  expect(requests.second.waiting).toBeNull();
});

test("any other refusal is thrown as it is", async () => {
  const requests = new StaffRequests(floorThat(() => Promise.reject(new Refused({ reason: "late", message: "too late" }))), "token", true);
  await expect(requests.send(ASK, "the box leaves")).rejects.toThrow("too late");
  expect(requests.second.waiting).toBeNull();
});

test("an offer that is made twice is shown once", () => {
  const twice = [offer("remove-item", { item: "dice" }), offer("remove-item", { item: "dice" }), offer("remove-item", {})];
  expect(once(twice).map(keyOf)).toEqual(['remove-item {"item":"dice"}', "remove-item {}"]);
});

// One id for one intent

type Sent = [RequestBody & { do?: { id?: string } }, { isSafe?: boolean; id?: string } | undefined];
const sent = (connection: Connection) => vi.mocked(connection.send).mock.calls as unknown as Sent[];
const FILL = { type: "fill", table: "T1", amount: 500 } as RequestBody;
const cut = () => Promise.reject(new Unanswered());

test("what was cut off is asked for again under the same id, also by a page that was loaded anew", async () => {
  const connection = floorThat(cut);
  await expect(new StaffRequests(connection, "token", true).send(FILL, "a fill")).rejects.toBeInstanceOf(Unanswered);
  const again = floorThat(() => Promise.resolve({ type: "done", again: true }));
  // It may be done already: nobody has to agree anew before the server has said so.
  expect(await new StaffRequests(again, "token", true).send(FILL, "a fill", true)).toMatchObject({ again: true });
  expect(sent(again)[0]?.[1]).toMatchObject({ isSafe: true, id: sent(connection)[0]?.[1]?.id });
});

test("the browser keeps no number of a ticket, also while nobody knows whether it was redeemed", async () => {
  const number = "17 0000 4711 2233";
  const redeem = { type: "do", do: { command: "redeem-ticket", ticket: number } } as RequestBody;
  await expect(new StaffRequests(floorThat(cut), "token", true).send(redeem, "a ticket")).rejects.toBeInstanceOf(Unanswered);
  expect(sessionStorage.getItem("taisai-intents")).toContain('"id"');
  expect(JSON.stringify([{ ...sessionStorage }, { ...localStorage }])).not.toContain("4711");
});

test("what no witness has seen yet is asked for again under the same id: it may be booked", async () => {
  const connection = floorThat(() => Promise.reject(new Refused({ reason: "unwitnessed", message: "booked, but not witnessed" })));
  await expect(new StaffRequests(connection, "token", true).send(FILL, "a fill")).rejects.toBeInstanceOf(Refused);
  const again = floorThat(() => Promise.resolve({ type: "done", again: true }));
  expect(await new StaffRequests(again, "token", true).send(FILL, "a fill")).toMatchObject({ again: true });
  expect(sent(again)[0]?.[1]).toMatchObject({ id: sent(connection)[0]?.[1]?.id });
});

test("what was answered, done or refused, is another deed the next time", async () => {
  const connection = floorThat((request) => ((request as { amount?: number }).amount === 500 ? Promise.resolve({ type: "done" }) : Promise.reject(new Refused({ reason: "float-short", message: "no" }))));
  const requests = new StaffRequests(connection, "token", true);
  for (let turn = 0; turn < 2; turn += 1) await requests.send(FILL, "a fill");
  for (let turn = 0; turn < 2; turn += 1) await requests.send({ ...FILL, amount: 1 } as RequestBody, "a fill").catch(() => undefined);
  expect(new Set(sent(connection).map(([, more]) => more?.id)).size).toBe(4);
});

test("a second press while it waits asks for nothing more", async () => {
  let answer = (_told: unknown): void => undefined;
  const connection = floorThat(() => new Promise((done) => { answer = done; }));
  const requests = new StaffRequests(connection, "token", true);
  const both = [requests.send(FILL, "a fill"), requests.send(FILL, "a fill")];
  await vi.waitFor(() => { expect(connection.send).toHaveBeenCalled(); });
  answer({ type: "done" });
  await Promise.all(both);
  expect(connection.send).toHaveBeenCalledTimes(1);
});

test("the owners' money goes under the intent's own id", async () => {
  const connection = floorThat(cut);
  const requests = new StaffRequests(connection, "token", true);
  for (let turn = 0; turn < 2; turn += 1) await requests.do(null, { command: "bring-in", amount: 700 } as never, "700").catch(() => undefined);
  const ids = sent(connection).map(([request]) => request.do?.id);
  expect(ids[0]).toBeTruthy();
  expect(new Set(ids).size).toBe(1);
});

test("an act of the round, which nobody knows by an id, is never sent again by itself", async () => {
  const connection = floorThat(cut);
  await new StaffRequests(connection, "token", true).do("T1", { command: "shut", reason: "x" } as never, "shut").catch(() => undefined);
  expect(sent(connection)[0]?.[1]?.isSafe ?? false).toBe(false);
});
