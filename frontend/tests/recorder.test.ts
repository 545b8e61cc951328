// The layout recorder: a tap is a bet that is pending until the server has answered for it.
import { SvelteMap } from "svelte/reactivity";
import { beforeAll, expect, test, vi } from "vitest";
import { Layout } from "../src/recorder/layout.svelte";
import { seatsOf, sumsOf } from "../src/recorder/taps";
import type { Connection } from "../src/connection/connection.svelte";
import { Refused } from "../src/connection/http";
import type { AnyView, FeltArea } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";

beforeAll(() => loadLanguage("en"));

test("seats 1 to 9 have keys; the others follow by number", () => {
  expect(seatsOf(["12", "3", "A", "10"])).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "12", "A"]);
});

test("stakes on one area are one sum", () => {
  expect([...sumsOf([{ area: "big", stake: 5 }, { area: "big", stake: 10 }, { area: "odd", stake: 1 }])]).toEqual([["big", 15], ["odd", 1]]);
});

const area = (id: string) => ({ id, label: { en: id, zh: id } }) as FeltArea;

/** A layout at a table with seat 5, which has blue chips of 10.00, before a connection that answers as it is told. */
function recording(answer: () => Promise<unknown>) {
  const views = new SvelteMap<string, AnyView>();
  const line = { seat: "5", player: "Ann", terminal: null, session: 1, layout: "A", credits: 20_000, at_risk: 0, colour: "blue", colour_value: 1_000 };
  views.set("table:T1", { of: "table", table: { currency: "SGD", means: ["colour-chips", "cash-chips", "credits"] }, round: { number: 7 }, lit: {} } as unknown as AnyView);
  views.set("console:T1", { of: "console", people: [{ name: "Pia" }], seats: { taken: 1, shown: [line] }, irregularities: [] } as unknown as AnyView);
  let made = 0;
  const connection = { views, do: vi.fn(answer), send: vi.fn(answer), newId: () => `b${(made += 1)}` };
  const layout = new Layout({ connection: connection as unknown as Connection, token: "", role: "pit-supervisor", person: "Pia", isDemonstration: true }, "T1");
  layout.choose("5");
  layout.chip = 500;
  return { layout, connection };
}

test("a tap is one bet at once, and pending until the server has answered", async () => {
  let done: (told: unknown) => void = () => undefined;
  const { layout, connection } = recording(() => new Promise((resolve) => { done = resolve; }));
  layout.tap(area("big"));
  expect(connection.do).toHaveBeenCalledWith("T1", { command: "record-bets", round: 7, seat: "5", means: "cash-chips", bets: [{ id: "b1", area: "big", stake: 500 }] }, { isSafe: true });
  expect(layout.states.get("big")).toBe("pending");
  expect(layout.stakes.get("big")).toBe(500);
  expect(layout.undoable).toBeUndefined();
  done({ type: "done" });
  await vi.waitFor(() => expect(layout.taps[0]?.state).toBe("registered"));
  expect(layout.undoable?.id).toBe("b1");
});

test("colour chips are told in pieces, and shown in money", async () => {
  const { layout, connection } = recording(() => Promise.resolve({ type: "done" }));
  layout.means = "colour-chips";
  layout.pieces = 5;
  layout.tap(area("odd"));
  expect(connection.do.mock.calls[0]?.slice(1, 2)).toEqual([{ command: "record-bets", round: 7, seat: "5", means: "colour-chips", bets: [{ id: "b1", area: "odd", stake: 5 }] }]);
  expect(layout.stakes.get("odd")).toBe(5_000);
  layout.choose("6"); // which bought none
  expect(layout.means).toBe("cash-chips");
});

test("a late bet is refused by its clause, counts nowhere, and cannot be taken back", async () => {
  const { layout } = recording(() => Promise.reject(new Refused({ reason: "late", message: "too late", clause: "5.6" })));
  layout.tap(area("small"));
  await vi.waitFor(() => expect(layout.taps[0]).toMatchObject({ state: "refused", clause: "5.6", isLate: true }));
  expect(layout.stakes.get("small")).toBeUndefined();
  expect(layout.states.get("small")).toBe("refused");
  expect(layout.undoable).toBeUndefined();
});

test("nothing is recorded for a seat that nobody has taken", () => {
  const { layout, connection } = recording(() => Promise.resolve({}));
  layout.choose("2");
  layout.tap(area("big"));
  expect(connection.do).not.toHaveBeenCalled();
});

test("undo takes the last bet back that was registered", async () => {
  const { layout, connection } = recording(() => Promise.resolve({ type: "done" }));
  layout.tap(area("big"));
  layout.tap(area("odd"));
  await vi.waitFor(() => expect(layout.taps.every((tap) => tap.state === "registered")).toBe(true));
  layout.undo();
  expect(connection.do.mock.calls.at(-1)).toEqual(["T1", { command: "take-back", round: 7, seat: "5", ids: ["b2"] }, { isSafe: true }]);
  await vi.waitFor(() => expect(layout.taps[0]?.state).toBe("back"));
  expect(layout.undoable?.id).toBe("b1");
});

test("a bet that lies elsewhere is moved by the next tap, which lays nothing", async () => {
  const { layout, connection } = recording(() => Promise.resolve({ type: "done" }));
  layout.moving = { id: "b9", area: "big", stake: 500 };
  layout.tap(area("small"));
  expect(connection.send).toHaveBeenCalledWith({ type: "do", table: "T1", do: { command: "move-bet", round: 7, id: "b9", area: "small" } });
  expect(connection.do).not.toHaveBeenCalled();
  expect(layout.moving).toBeNull();
});
