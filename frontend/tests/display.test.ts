// The Display: where a table stands at one glance, and history that is told as history.
import { render, screen } from "@testing-library/svelte";
import { beforeAll, describe, expect, it } from "vitest";
import Notice from "../src/display/Notice.svelte";
import HistoryPanel from "../src/display/HistoryPanel.svelte";
import Reveal from "../src/display/Reveal.svelte";
import { hotAndCold, statusOf } from "../src/display/status";
import type { TableView } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";

const words = (text: string) => ({ en: text, zh: text });
function table(more: Partial<TableView> = {}): TableView {
  return {
    of: "table",
    table: { name: "T", rulebook: "r", title: words("Sic Bo"), digest: "d", currency: "SGD", layouts: ["A"], layout: "A", kind: "dice", demonstration: false, stand_in: null, means: [] },
    limits: { least: 500, most: 100_000, groups: {}, lowest: 500, highest: 100_000, lines: [] },
    round: { number: 7, phase: "open", label: words("Bets open"), bets_open: true, notice: words("Place your bets"), since: 0, collected: false, paid: false, void: null },
    countdown: { closes_at: null, since: null, prompt: false, is_up: false },
    dice: { kind: "dice", round: 7, faces: null, total: null, source: null },
    lit: {}, history: { results: [], sizes: [], parities: [], totals: {}, counted: 0 },
    stoppage: { closed: false, shut: null, hold: null, says: null, clause: null },
    draw: { commitment: null, round: null, revealed: null },
    ...more,
  };
}
const closed = { ...table().round, phase: "closed", bets_open: false, notice: words("No more bets") };
const shown = (number: number, more = {}) => ({ number, void: false, faces: [1, 2, 3] as [number, number, number], total: 6, size: "small", parity: "even", by_hand: false, ...more });

beforeAll(() => loadLanguage("en"));

describe("where a table stands", () => {
  const thrown = { kind: "dice", round: 7, faces: [1, 2, 3] as [number, number, number], total: 6, source: null };
  it.each([
    ["open", table()],
    ["closed", table({ round: closed })],
    ["closed", table({ round: closed, dice: { ...thrown, round: 6 } })], // another round's dice are no result
    ["result", table({ round: closed, dice: thrown })],
    ["waits", table({ round: { ...closed, phase: "between" }, dice: thrown })],
    ["held", table({ stoppage: { ...table().stoppage, hold: "referral" } })],
    ["held", table({ stoppage: { ...table().stoppage, shut: "a die is missing" } })],
  ])("%s", (stand, view) => expect(statusOf(view)).toBe(stand));

  it("says so in the server's own words, and that bets are closed in a word of its own", () => {
    render(Notice, { view: table({ round: closed }) });
    expect(screen.getByTestId("notice").textContent).toBe("No more bets");
    expect(screen.getByText(/Bets closed/)).toBeTruthy();
  });
});

describe("why a table is paused", () => {
  const paused = (shut: string) => ({ ...table().stoppage, shut, clause: "6(b)" });
  it.each([
    ["en", "equipment-failure", "electronic equipment failed"],
    ["zh", "equipment-failure", "电子设备故障"],
    ["en", "power-failure", "the power failed"],
    ["en", "interrupted", "the system stopped during a round"],
    ["en", "the lights of area 4 stay dark", "the lights of area 4 stay dark"],
  ])("%s: what was reported without words has words: %s", async (code, reason, says) => {
    await loadLanguage(code);
    render(Notice, { view: table({ stoppage: paused(reason) }) });
    expect(screen.getByText(new RegExp(says))).toBeTruthy();
    expect(screen.queryByText(/equipment-failure|power-failure|interrupted/)).toBeNull();
    await loadLanguage("en");
  });
});

describe("the dice", () => {
  it("are hidden until the server tells them", () => {
    render(Reveal, { view: table() });
    expect(screen.getByTestId("dice").dataset["faces"]).toBe("");
  });
  it("are shown as they are told", () => {
    render(Reveal, { view: table({ dice: { kind: "dice", round: 7, faces: [1, 4, 6], total: 11, source: null } }) });
    expect(screen.getByTestId("dice").dataset["faces"]).toBe("1,4,6");
    expect(screen.getByText("11")).toBeTruthy();
  });
  it("of a void round are none: it is marked void", () => {
    const history = { ...table().history, results: [shown(7, { void: true, faces: null, total: null })] };
    render(Reveal, { view: table({ round: { ...closed, phase: "between" }, history }) });
    expect(screen.getByText(/Round 7 is void/)).toBeTruthy();
  });
});

describe("history", () => {
  const totals = { 3: 0, 4: 2, 10: 9, 11: 9, 12: 4, 18: 1 };
  it("tells the most and least frequent totals with how often they came", () => {
    const { hot, cold } = hotAndCold({ totals });
    expect(hot).toEqual({ shown: [{ total: 10, times: 9 }, { total: 11, times: 9 }, { total: 12, times: 4 }], more: 0 });
    expect(cold).toEqual({ shown: [{ total: 3, times: 0 }, { total: 18, times: 1 }, { total: 4, times: 2 }], more: 0 });
  });
  it("says how many more came as often as the last that is named", () => {
    const cold = { ...totals, 5: 0, 16: 0, 17: 0, 6: 0 };
    expect(hotAndCold({ totals: cold }).cold).toMatchObject({ shown: [{ total: 3 }, { total: 5 }, { total: 6 }], more: 2 });
    render(HistoryPanel, { history: { ...table().history, totals: cold, counted: 25 } });
    expect(screen.getByText("and 2 more with the same count")).toBeTruthy();
  });
  it("is for information only", () => {
    render(HistoryPanel, { history: { ...table().history, totals, counted: 25 } });
    expect(screen.getByText(/For information only/)).toBeTruthy();
  });
  it("has no road where a rulebook has no such areas", () => {
    const { container } = render(HistoryPanel, { history: { ...table().history, sizes: [{ mark: "big", rounds: [1] }] } });
    expect(container.querySelectorAll(".road")).toHaveLength(1);
  });
});
