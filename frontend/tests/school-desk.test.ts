// Dealer school's desk by the keyboard alone: figures go from line to line, and a ruling is one key.
import { render, screen } from "@testing-library/svelte";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import RulingExercise from "../src/school/RulingExercise.svelte";
import SettleExercise from "../src/school/SettleExercise.svelte";
import type { FeltView, RulingExerciseResponse, RulingJudgedResponse, SettleExerciseResponse } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";

const words = (en: string) => ({ en, zh: en });
const COMMON = { book: "some-book", title: words("Book"), layout: "A", level: 1, seed: 7, par: 1000 };
const FELT: FeltView = { table: "", rulebook: "", layout: "A", clause: "", terms: "", wide: 2, tall: 1, drawn: "", cells: [], areas: [], denominations: [] };
const bet = (seat: number, area: string) => ({ seat, colour: "red", colour_label: words("red"), area, label: words(area), stake: 10 });
const press = (key: string, on: EventTarget = document.activeElement ?? document.body, more: KeyboardEventInit = {}) =>
  on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));

beforeAll(() => {
  vi.stubGlobal("ResizeObserver", class { observe(): void {} unobserve(): void {} disconnect(): void {} });
  Element.prototype.scrollTo = () => undefined;
});
beforeEach(() => loadLanguage("en"));

describe("settling", () => {
  const exercise: SettleExerciseResponse = { ...COMMON, kind: "settle", cards: false, faces: [1, 2, 3], bets: [bet(2, "big"), bet(1, "small")] };
  const key = (text: string) => {
    const field = document.activeElement as HTMLInputElement;
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    press("Enter");
  };

  it("goes seat by seat by Enter, and answers in the exercise's own order", () => {
    const onanswer = vi.fn();
    render(SettleExercise, { exercise, felt: FELT, judged: null, isBusy: false, onanswer, onnext: () => undefined });
    expect((document.activeElement as HTMLElement).dataset["testid"]).toBe("bet-1");
    key("20");
    expect((document.activeElement as HTMLElement).dataset["testid"]).toBe("bet-0");
    expect(onanswer).not.toHaveBeenCalled();
    key("0");
    expect(onanswer).toHaveBeenCalledExactlyOnceWith({ kind: "settle", returned: [0, 20] });
  });

  it("leads back to what is still blank, and takes nothing for nought", () => {
    const onanswer = vi.fn();
    render(SettleExercise, { exercise, felt: FELT, judged: null, isBusy: false, onanswer, onnext: () => undefined });
    press("Enter");
    key("7x");
    expect(onanswer).not.toHaveBeenCalled();
    expect((document.activeElement as HTMLElement).dataset["testid"]).toBe("bet-1");
    key("0");
    press("Enter");
    expect(onanswer).toHaveBeenCalledExactlyOnceWith({ kind: "settle", returned: [7, 0] });
  });
});

describe("ruling", () => {
  const exercise: RulingExerciseResponse = {
    ...COMMON, kind: "ruling", phase: "open", irregularity: "late-bet", label: words("A late bet"), context: words("Open"),
    choices: ["void", "refuse", "stands", "settle"].map((id) => ({ id, says: words(id) })),
  };
  const judged: RulingJudgedResponse = {
    kind: "ruling", score: 0, bonus: 0, right: 0, of: 1, took: 2000, par: 1000, chosen: "void", ordered: "refuse",
    ruling: words("refuse"), clause: "5.5", says: "Late bets are refused.", decides: words("The rules"), foreseen: true,
  };

  it("is one key, and none but 1 to 4", () => {
    const onanswer = vi.fn();
    render(RulingExercise, { exercise, judged: null, isBusy: false, onanswer, onnext: () => undefined });
    for (const one of ["5", "0", "a"]) press(one);
    press("2", document.body, { ctrlKey: true });
    press("2", document.body, { repeat: true });
    expect(onanswer).not.toHaveBeenCalled();
    press("2");
    expect(onanswer).toHaveBeenCalledExactlyOnceWith({ kind: "ruling", choice: "refuse" });
  });

  it("shows what was ordered and by which clause, and goes on by Enter that is not held", async () => {
    const onanswer = vi.fn();
    const onnext = vi.fn();
    const { rerender } = render(RulingExercise, { exercise, judged: null as RulingJudgedResponse | null, isBusy: false, onanswer, onnext });
    await rerender({ judged });
    expect(screen.getByText("Late bets are refused.")).toBeTruthy();
    expect(screen.getByText("5.5")).toBeTruthy();
    expect(document.querySelector("[data-choice=refuse]")?.className).toContain("ordered");
    expect((document.activeElement as HTMLElement).dataset["testid"]).toBe("next");
    press("1");
    press("Enter", document.body, { repeat: true });
    expect([onanswer, onnext].map((one) => one.mock.calls.length)).toEqual([0, 0]);
    press("Enter", document.body);
    expect(onnext).toHaveBeenCalledOnce();
  });
});
