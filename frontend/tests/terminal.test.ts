// The terminal: a felt from whatever geometry the server sends, and bets that are pending until they are answered.
import { fireEvent, render, screen } from "@testing-library/svelte";
import { SvelteMap } from "svelte/reactivity";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { pileOf } from "../src/shared/chips";
import { rowsOf } from "../src/shared/felt";
import Felt from "../src/shared/Felt.svelte";
import { toasts } from "../src/shared/toast.svelte";
import { Seat } from "../src/terminal/seat.svelte";
import ChipStack from "../src/terminal/ChipStack.svelte";
import { Refused, Unanswered } from "../src/connection/http";
import type { Connection } from "../src/connection/connection.svelte";
import type { AnyView, FeltArea, FeltView, SeatView, TableView } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";

function area(id: string, more: Partial<FeltArea> = {}): FeltArea {
  return {
    id, label: { en: id, zh: `${id}区` }, family: "total", numbers: [4], odds: [{ text: { en: "62 to 1", zh: "1 赔 62" }, dice: null }],
    wins: { en: "the total is 4", zh: "" }, clause: "4.1", says: "", least: 100, most: 1000, step: 1, edge: null, ...more,
  };
}
function felt(areas: FeltArea[]): FeltView {
  const cells = areas.map((one, x) => ({ x, y: 0, wide: 1, tall: 1, block: "b", drawing: x % 2 ? "ours" : "document", area: one.id, odds_of: null, odds: null }));
  const blank = { x: areas.length, y: 0, wide: 1, tall: 1, block: "b", drawing: "document", area: null, odds_of: "small", odds: { en: "1 to 1", zh: "1 赔 1" } };
  return {
    table: "T", rulebook: "r", layout: "A", clause: "c", terms: "d", wide: areas.length + 1, tall: 1, drawn: "both",
    cells: [...cells, blank], areas, denominations: [100, 500],
  } as unknown as FeltView;
}

beforeEach(async () => { await loadLanguage("en"); toasts.splice(0); });

describe("the felt", () => {
  const areas = Array.from({ length: 104 }, (_one, place) => area(`a${place}`));
  it("draws every cell of the layout once, odds as they are written, nothing of its own", () => {
    const { container } = render(Felt, { felt: felt(areas), onarea: () => undefined });
    expect(container.querySelectorAll("button[data-area]")).toHaveLength(104);
    expect(container.querySelector(".blank")?.textContent).toBe("1 to 1");
    expect(container.querySelectorAll(".ours")).toHaveLength(52);
  });
  it("tells whoever listens the name, the odds and what lies there", () => {
    render(Felt, { felt: felt(areas.slice(0, 2)), onarea: () => undefined, spokenDetailsOf: (one: FeltArea) => (one.id === "a1" ? "$5.00 registered" : "") });
    expect(screen.getByRole("button", { name: "a1, 62 to 1, $5.00 registered" })).toBeTruthy();
  });
  it("lights what the server lights, not by colour alone", async () => {
    const { container, rerender } = render(Felt, { felt: felt(areas), onarea: () => undefined });
    await rerender({ lit: new Set(["a3"]) });
    const lit = container.querySelectorAll('[data-lit="true"]');
    expect(lit).toHaveLength(1);
    expect(lit[0]?.textContent).toContain("★");
    expect(lit[0]?.getAttribute("aria-label")).toContain("winner");
  });
  it("is only looked at where nobody may touch it", () => {
    const { container } = render(Felt, { felt: felt(areas.slice(0, 3)) });
    expect(container.querySelectorAll("button")).toHaveLength(0);
    expect(container.querySelectorAll("[data-area]")).toHaveLength(3);
  });
  it("tells a tap from a long press", async () => {
    vi.useFakeTimers();
    const [touched, asked] = [vi.fn(), vi.fn()];
    const { container } = render(Felt, { felt: felt(areas.slice(0, 1)), onarea: touched, onabout: asked });
    const button = container.querySelector("button") as HTMLButtonElement;
    await fireEvent.pointerDown(button);
    await fireEvent.pointerUp(button);
    await fireEvent.click(button);
    expect([touched.mock.calls.length, asked.mock.calls.length]).toEqual([1, 0]);
    await fireEvent.pointerDown(button);
    vi.advanceTimersByTime(600);
    await fireEvent.pointerUp(button);
    await fireEvent.click(button);
    expect([touched.mock.calls.length, asked.mock.calls.length]).toEqual([1, 1]);
    vi.useRealTimers();
  });
  it("takes a key after a long press of the mouse, which may end in no click at all", async () => {
    vi.useFakeTimers();
    const touched = vi.fn();
    const { container } = render(Felt, { felt: felt(areas.slice(0, 1)), onarea: touched, onabout: () => undefined });
    const button = container.querySelector("button") as HTMLButtonElement;
    await fireEvent.pointerDown(button);
    vi.advanceTimersByTime(600);
    await fireEvent.keyDown(button, { key: "Enter" });
    await fireEvent.click(button);
    expect(touched.mock.calls.length).toBe(1);
    vi.useRealTimers();
  });
  it("prints what the layout prints, and odds once where a cell of their own tells them", () => {
    const made = felt([area("four", { family: "four", numbers: [3, 4, 5, 6] }), area("big", { family: "even-money" })]);
    Object.assign(made.cells[0] as object, { figures: "6 5 4 3", wide: 4 });
    Object.assign(made.cells[1] as object, { x: 4, figures: "11–17", note: { en: "except any triple", zh: "围骰除外" }, wide: 4, tall: 2 });
    Object.assign(made.cells[2] as object, { odds_of: "four", note: { en: "on one die", zh: "一颗" } });
    const { container } = render(Felt, { felt: made, onarea: () => undefined });
    expect(container.querySelector(".figures")?.textContent).toBe("6 5 4 3");
    expect(container.querySelector(".range")?.textContent).toBe("11–17");
    expect(container.querySelector(".blank")?.textContent).toBe("1 to 1 on one die");
    expect(container.querySelector('[data-area="four"] .odds')).toBeNull();
  });
  it("lays a stake as the fewest chips, and never more than a pile", () => {
    expect(pileOf(15, [5, 10, 20])).toEqual([1, 0]);
    expect(pileOf(45, [5, 10, 20])).toEqual([2, 2, 0]);
    expect(pileOf(1000, [5, 10, 20])).toHaveLength(5);
    expect(pileOf(3, [5, 10])).toEqual([0]);
  });
  it("makes rows flat in which only odds are printed", () => {
    const made = felt([area("a")]);
    made.tall = 2;
    Object.assign(made.cells[1] as object, { x: 0, y: 1, wide: 2 });
    const rows = rowsOf(made);
    expect([rows.at(0), rows.at(1), rows.tall < 2]).toEqual([0, 1, true]);
  });
});

describe("a seat", () => {
  const STAND = { number: 7, phase: "open", bets_open: true, collected: false, paid: false, void: null };
  const TABLE = { of: "table", table: { currency: "SGD", layout: "A" }, round: STAND, lit: {} } as unknown as TableView;
  const SEAT = { of: "seat", seat: "1", taken: true, session: 1, layout: "A", credits: 500, at_risk: 0, bets: [], last: null } as unknown as SeatView;
  const standing = (more: Partial<typeof STAND>, lit: string[] = []): AnyView => ({ ...TABLE, round: { ...STAND, ...more }, lit: { A: lit } }) as unknown as AnyView;
  function seated(answer: (command: Record<string, unknown>) => Promise<unknown>) {
    const views = new SvelteMap<string, AnyView>([["table:T", TABLE], ["seat:T/1", SEAT]]);
    let made = 0;
    const sent: { command: Record<string, unknown>; isSafe: boolean }[] = [];
    const connection = {
      views, welcome: { name: "T-1" }, newId: () => `id-${(made += 1)}`,
      do: (_table: string, command: Record<string, unknown>, more: { isSafe: boolean }) => { sent.push({ command, ...more }); return answer(command); },
    };
    const seat = new Seat(connection as unknown as Connection, "T", "1");
    seat.felt = felt([area("small"), area("big")]);
    seat.chip = 100;
    return { seat, sent, views };
  }
  const small = area("small");

  it("shows a bet as pending until the server has answered, and then as the server has it", async () => {
    let answer: (value: unknown) => void = () => undefined;
    const { seat, sent, views } = seated(() => new Promise((done) => { answer = done; }));
    seat.place(small);
    expect(sent[0]).toMatchObject({ isSafe: true, command: { command: "place-bets", round: 7, seat: "1", bets: [{ area: "small", stake: 100 }] } });
    expect([seat.states.get("small"), seat.stakes.get("small")]).toEqual(["pending", 100]);
    views.set("seat:T/1", { ...SEAT, bets: [{ id: "id-1", area: "small", stake: 100 }] } as AnyView);
    answer({});
    await vi.waitFor(() => { expect(seat.unsettled).toEqual([]); });
    expect([seat.states.get("small"), seat.stakes.get("small")]).toEqual(["registered", 100]);
  });
  it("says why a bet was refused, with the clause, and counts it nowhere", async () => {
    const { seat } = seated(() => Promise.reject(new Refused({ reason: "late", message: "a bet before the close", clause: "5.2" })));
    seat.place(small);
    await vi.waitFor(() => { expect(seat.states.get("small")).toBe("refused"); });
    expect(seat.stakes.get("small")).toBeUndefined();
    expect(toasts[0]).toMatchObject({ kind: "refused", clause: "5.2" });
  });
  it("does not claim to know what nobody answered", async () => {
    const { seat } = seated(() => Promise.reject(new Unanswered()));
    seat.place(small);
    await vi.waitFor(() => { expect(seat.unsettled).toEqual([]); });
    expect(toasts[0]?.text).toContain("No answer yet");
  });
  it("places a favourite as one batch, so that all of it counts or none", () => {
    const { seat, sent } = seated(() => new Promise(() => undefined));
    seat.layFavourite({ name: "mine", bets: [{ area: "small", stake: 100 }, { area: "big", stake: 200 }] });
    expect(sent).toHaveLength(1);
    expect((sent[0]?.command["bets"] as unknown[]).length).toBe(2);
  });
  it("derives what was collected and paid from what the server tells, not from what it heard", () => {
    const { seat, views } = seated(() => new Promise(() => undefined));
    views.set("seat:T/1", { ...SEAT, bets: [{ id: "a", area: "small", stake: 100 }, { id: "b", area: "big", stake: 200 }] } as AnyView);
    views.set("table:T", standing({ phase: "collected", bets_open: false, collected: true }, ["small"]));
    expect([seat.states.get("small"), seat.states.get("big")]).toEqual(["registered", "lost"]);
    expect([seat.stakes.get("big"), seat.gone.get("big")]).toEqual([undefined, 200]);
    views.set("table:T", standing({ number: 8 }));
    expect([seat.states.get("big"), seat.stakes.get("big"), seat.gone.size]).toEqual(["registered", 200, 0]);
  });
  it("marks what was refused beside what stands", async () => {
    const { seat, views } = seated(() => Promise.reject(new Refused({ reason: "credits-short", message: "credits", clause: "house:credits" })));
    views.set("seat:T/1", { ...SEAT, bets: [{ id: "a", area: "small", stake: 500 }] } as AnyView);
    seat.place(small, 50_000);
    await vi.waitFor(() => { expect(seat.refusals.has("small")).toBe(true); });
    expect([seat.states.get("small"), seat.stakes.get("small"), seat.refusals.get("small")?.stake]).toEqual(["registered", 500, 50_000]);
    const { container } = render(ChipStack, { seat, area: small });
    expect(container.querySelector("text")?.textContent).toBe("5");
    expect(screen.getByLabelText("refused")).toBeTruthy();
  });
});
