// A round retold: what lay there at the close, what each bet got and by which clause.
import { fireEvent, render, screen } from "@testing-library/svelte";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { bySeat, stakesOn } from "../src/shared/roundBets";
import RoundRecord from "../src/shared/RoundRecord.svelte";
import Lookup from "../src/round/Lookup.svelte";
import type { BetLine, BetState, FeltView, RoundView } from "../src/connection/messages";
import { chooseLanguage, loadLanguage } from "../src/i18n/index.svelte";

const bet = (id: string, area: string, stake: number, state: BetState, more: Partial<BetLine> = {}): BetLine =>
  ({ id, seat: "1", layout: "A", area, label: { en: `Area ${area}`, zh: `${area}区` }, stake, means: "cash-chips", state, won: 0, returned: 0, kept_out: 0, clause: "3.8", kept_out_by: null, lay: state !== "taken-back", ruled: null, ...more });
const BETS = [
  bet("a", "big", 500, "won", { won: 500, returned: 1000, clause: "4.1.1" }),
  bet("b", "big", 300, "taken-back", { clause: null }),
  bet("c", "small", 200, "lost", { seat: "10" }),
  bet("d", "big", 100, "won", { seat: "2", won: 100, returned: 200, clause: "4.1.1" }),
  bet("e", "big", 50, "won", { seat: "2", layout: "B" }),
];
const round = (more: Partial<RoundView> = {}): RoundView => ({
  table: "T", number: 7, day: "2026-01-02", opened_at: 0, phase: "between", label: { en: "", zh: "" }, faces: [4, 5, 6], total: 15,
  entered: null, void: false, clause: null, decided: true, bets: BETS, left_out: 0, totals: { bets: 4, staked: 850, won: 600, returned: 1200 },
  seat: null, incidents: [], recalled: true, by_hand: false, lit: { A: ["big"] }, says: { "4.1.1": "Even money pays 1 to 1.", "3.8": "Losers are collected." }, ...more,
});
const felt: FeltView = {
  table: "T", rulebook: "r", layout: "A", clause: "1", terms: "t", wide: 4, tall: 2, drawn: "ours", denominations: [],
  cells: ["big", "small"].map((area, place) => ({ x: 2 * place, y: 0, wide: 2, tall: 2, block: "b", drawing: "ours", area, odds_of: null, odds: null, figures: null, note: null })),
  areas: ["big", "small"].map((id) => ({ id, label: { en: id, zh: id }, family: "even-money", numbers: [], odds: [{ text: { en: "1 to 1", zh: "1 赔 1" }, dice: null }], wins: { en: "", zh: "" }, clause: "4.1.1", says: "Even money pays 1 to 1.", least: 1, most: 9, step: 1, edge: null })),
};

beforeAll(() => loadLanguage("en"));

describe("what lay there", () => {
  it("is what was not taken back, layout by layout", () => {
    expect([...stakesOn(BETS, "A")]).toEqual([["big", { stake: 600, won: true, lost: false }], ["small", { stake: 200, won: false, lost: true }]]);
    expect(stakesOn(BETS, "B").get("big")?.stake).toBe(50);
  });
  it("is told seat by seat, in the order of their numbers", () => {
    expect(bySeat(BETS).map(([seat, bets]) => [seat, bets.length])).toEqual([["1", 2], ["2", 2], ["10", 1]]);
  });
  it("is drawn on the felt, with what the outcome lights, whether anybody bet there or not", () => {
    const nobody = render(RoundRecord, { round: round({ bets: BETS.slice(2, 3) }), currency: "SGD", felt });
    expect(nobody.container.querySelector<HTMLElement>('[data-area="big"]')?.dataset["lit"]).toBe("true");
    nobody.unmount();
    const { container } = render(RoundRecord, { round: round(), currency: "SGD", felt });
    const [big, small] = ["big", "small"].map((area) => container.querySelector<HTMLElement>(`[data-area="${area}"]`));
    expect([big?.dataset["stake"], big?.dataset["lit"]]).toEqual(["600", "true"]);
    expect([small?.dataset["stake"], small?.dataset["lit"]]).toEqual(["200", "false"]);
  });
});

describe("a round", () => {
  it("tells every bet with its state and its clause", () => {
    const { container } = render(RoundRecord, { round: round(), currency: "SGD", felt });
    const rows = [...container.querySelectorAll("tbody tr")].map((row) => [row.getAttribute("data-state"), row.querySelector(".clause")?.textContent ?? ""]);
    expect(rows).toEqual([["won", "4.1.1"], ["taken-back", ""], ["won", "4.1.1"], ["won", "3.8"], ["lost", "3.8"]]);
    expect(screen.getByText("Even money pays 1 to 1.")).toBeTruthy();
    expect(screen.getByText("Losers are collected.")).toBeTruthy();
  });
  it("tells a bet that was returned by decision as one that lay there, with reason and both people", () => {
    const ruled = { how: "returned", by: "Sue", second: "Pat", reason: "they fell" };
    const bets = [bet("r", "small", 1000, "returned", { returned: 1000, clause: "3.12", ruled })];
    const { container } = render(RoundRecord, { round: round({ bets }), currency: "SGD", felt });
    expect(container.querySelector<HTMLElement>('[data-area="small"]')?.dataset["stake"]).toBe("1000");
    const told = screen.getByTestId("ruled").textContent ?? "";
    for (const word of ["by decision", "Sue", "Pat", "they fell"]) expect(told).toContain(word);
    expect(container.querySelector("tbody tr")?.textContent).toContain("3.12");
  });
  it("says what was keyed in at first where it was corrected", () => {
    render(RoundRecord, { round: round({ entered: [1, 2, 3] }), currency: "SGD" });
    expect(screen.getByTestId("corrected").textContent).toContain("1 2 3");
    expect(screen.getByTestId("retold-dice").dataset["faces"]).toBe("4,5,6");
  });
  it("says by which clause it is void", () => {
    render(RoundRecord, { round: round({ void: true, clause: "5.1", faces: null, total: null }), currency: "SGD" });
    expect(screen.getByTestId("void").textContent).toContain("5.1");
  });
  it("tells incidents with their clauses, and says where it cannot recall them", () => {
    const { unmount } = render(RoundRecord, { round: round({ incidents: [{ at: 0, by: "Ann", what: "x", says: { en: "Too few tumbles", zh: "" }, clause: "5.2", second: "Bo", reason: "one tumble" }] }), currency: "SGD" });
    expect(screen.getByTestId("incidents").textContent).toMatch(/Too few tumbles.*Ann and Bo.*5\.2.*one tumble/);
    unmount();
    render(RoundRecord, { round: round({ recalled: false }), currency: "SGD" });
    expect(screen.getByText(/last ten rounds/)).toBeTruthy();
  });
  it("says how many bets it leaves out", () => {
    render(RoundRecord, { round: round({ left_out: 12 }), currency: "SGD" });
    expect(screen.getByText(/^12 more bets/)).toBeTruthy();
  });
  it("is told in Chinese at once", async () => {
    render(RoundRecord, { round: round(), currency: "SGD" });
    await chooseLanguage("zh");
    expect(screen.getByText("各注结果")).toBeTruthy();
    await chooseLanguage("en");
  });
});

describe("looking a round up", () => {
  const given = { number: 7, latest: 9, recent: [], seats: ["1", "2"], seat: "", isStaff: true, back: "" };
  it("goes to the one before, the one after, and the one that is typed", async () => {
    const onnumber = vi.fn();
    render(Lookup, { ...given, onnumber, onseat: vi.fn() });
    await fireEvent.click(screen.getByTestId("previous"));
    await fireEvent.click(screen.getByTestId("next"));
    await fireEvent.input(screen.getByTestId("round-number"), { target: { value: "3" } });
    await fireEvent.submit(screen.getByTestId("round-number").closest("form") as HTMLFormElement);
    expect(onnumber.mock.calls).toEqual([[6], [8], [3]]);
  });
  it("does not go before the first or past the latest", () => {
    render(Lookup, { ...given, number: 1, latest: 1, onnumber: vi.fn(), onseat: vi.fn() });
    expect((screen.getByTestId("previous") as HTMLButtonElement).disabled).toBe(true);
    expect((screen.getByTestId("next") as HTMLButtonElement).disabled).toBe(true);
  });
  it("offers a choice of seats to staff alone", () => {
    render(Lookup, { ...given, isStaff: false, onnumber: vi.fn(), onseat: vi.fn() });
    expect(screen.queryByTestId("round-seat")).toBeNull();
  });
});
