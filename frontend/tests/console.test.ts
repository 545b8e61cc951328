// The Game Console's own logic: the order of outcomes, how acts are laid out, and what the blanks of an offer send.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { dayAfter } from "../src/console/defaults";
import type { Desk } from "../src/console/desk.svelte";
import { needsInput, groupOf, isRoundAction, nameOf, onlyNumber } from "../src/console/offers";
import { byTotal, costs, OUTCOMES } from "../src/console/outcomes";
import HeatMap from "../src/console/HeatMap.svelte";
import Keypad from "../src/console/Keypad.svelte";
import { begun, filledFields, isFilled } from "../src/shared/form/fields";
import Form from "../src/shared/Form.svelte";
import { Refused } from "../src/connection/http";
import type { Blank, ConsoleView, Offer, TableView } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";

const words = (text: string) => ({ en: text, zh: text });
const blank = (field: string, kind: string, more: Partial<Blank> = {}): Blank =>
  ({ field, kind, label: words(field), least: null, most: null, choices: [], optional: false, when: null, ...more });
const offer = (command: string, more: Partial<Offer> = {}): Offer =>
  ({ command, preset: {}, blanks: [], by: ["dealer"], clause: "1.1", label: words(command), then: null, final: null, main: false, ...more });
const second = blank("second", "second");

beforeAll(() => loadLanguage("en"));

describe("outcomes", () => {
  test("there are 56, in the order in which the server tells their costs", () => {
    expect(OUTCOMES).toHaveLength(56);
    expect(OUTCOMES.slice(0, 7).map((one) => one.join(""))).toEqual(["111", "112", "113", "114", "115", "116", "122"]);
    expect(OUTCOMES.at(-1)).toEqual([6, 6, 6]);
    expect([...OUTCOMES].sort()).toEqual(OUTCOMES);
  });
  test("each stands under its total with its own cost", () => {
    const columns = byTotal(costs(OUTCOMES.map((_one, place) => place)));
    expect(columns.map((one) => one.costs.length)).toEqual([1, 1, 2, 3, 4, 5, 6, 6, 6, 6, 5, 4, 3, 2, 1, 1]);
    expect(columns.at(-1)?.costs[0]).toEqual({ faces: [6, 6, 6], total: 18, loses: 55 });
  });
  test("the worst and the best are marked, and each says its figure", () => {
    render(HeatMap, { all: costs(OUTCOMES.map((_one, place) => 100 * (place - 20))), worst: [6, 6, 6], best: [1, 1, 1], currency: "PLAY", kind: "dice" });
    expect(screen.getByRole("button", { name: "6 6 6: -35.00" }).textContent).toContain("▼");
    expect(screen.getByRole("button", { name: "1 1 1: +20.00" }).textContent).toContain("▲");
  });
  test("one tab stop; arrows go from total to total", async () => {
    const { container } = render(HeatMap, { all: costs(OUTCOMES.map(() => 1)), worst: [1, 1, 1], best: [6, 6, 6], currency: "PLAY", kind: "dice" });
    expect(container.querySelectorAll('button[tabindex="0"]')).toHaveLength(1);
    await fireEvent.keyDown(container.querySelector(".heat")!, { key: "ArrowRight" });
    expect(document.activeElement?.getAttribute("data-outcome")).toBe("112");
  });
});

describe("acts", () => {
  test("are named by their act, else by their command", () => {
    expect(nameOf(offer("perform", { preset: { act: "open-bets" } }))).toBe("open-bets");
    expect(nameOf(offer("shut"))).toBe("shut");
  });
  test("what no group knows belongs to the table", () => {
    expect(groupOf(offer("inspect"))).toBe("equipment");
    expect(groupOf(offer("something-new"))).toBe("table");
  });
  test("a second person alone is not asked for beforehand", () => {
    expect(needsInput(offer("perform", { blanks: [second] }))).toBe(false);
    expect(needsInput(offer("shut", { blanks: [blank("reason", "text")] }))).toBe(true);
    expect(needsInput(offer("close-table"))).toBe(false);
    expect(needsInput(offer("close-table", { final: { en: "This cannot be undone: …", zh: "此操作无法撤销：…" } }))).toBe(true);
  });
  test("a step that wants one number is done beside it", () => {
    const tumbles = blank("tumbles", "whole", { least: 3, most: 20 });
    expect(onlyNumber(offer("perform", { blanks: [tumbles, second] }))).toBe(tumbles);
    expect(onlyNumber(offer("inspect", { blanks: [tumbles, blank("passed", "yes-no")] }))).toBeUndefined();
  });
  test("a correction of this round stands beside the next step, one of an earlier round among the others", () => {
    expect(isRoundAction(offer("report", { preset: { event: "wrong-result", round: 7 } }))).toBe(true);
    expect(isRoundAction(offer("report", { preset: { event: "wrong-result" } }))).toBe(false);
    expect(isRoundAction(offer("decide-referral"))).toBe(false);
  });
  test("the day after the last of a month", () => {
    expect(dayAfter("2026-02-28")).toBe("2026-03-01");
    expect(dayAfter("no day")).toBe("");
  });
});

describe("the keypad", () => {
  const offered = offer("perform", { preset: { act: "enter-result" }, main: true });
  const seen = (faces: number[]) => ({ faces, total: 10, lit: {}, staked: 0, won: 0, returned: 0, collected: 0, house: { faces, loses: 0 }, differs: false });
  function keypad(reading: number[] | null = null) {
    const desk = { busy: 0, felt: null, currency: "PLAY", preview: vi.fn(async (faces: number[]) => seen(faces)), take: vi.fn().mockResolvedValue(true) };
    const console = { reading: reading && { faces: reading } } as unknown as ConsoleView;
    render(Keypad, { desk: desk as unknown as Desk, view: { table: { kind: "dice", layout: "A" } } as unknown as TableView, console, offer: offered });
    return desk;
  }

  test("looks once three faces are keyed, and enters nothing before the commit", async () => {
    const desk = keypad();
    for (const face of [2, 3]) await fireEvent.click(screen.getByTestId(`key-${face}`));
    expect(desk.preview).not.toHaveBeenCalled();
    await fireEvent.click(screen.getByTestId("key-5"));
    expect((await screen.findByTestId("preview")).dataset["faces"]).toBe("2,3,5");
    expect(desk.take).not.toHaveBeenCalled();
    await fireEvent.click(screen.getByTestId("commit"), { detail: 2 });
    expect(desk.take).not.toHaveBeenCalled();
    await fireEvent.click(screen.getByTestId("commit"), { detail: 1 });
    expect(desk.take).toHaveBeenCalledExactlyOnceWith(offered, { faces: [2, 3, 5] });
  });
  test("a key that is taken back takes the look with it", async () => {
    keypad([4, 4, 1]);
    await fireEvent.click(screen.getByTestId("take-reading"));
    await screen.findByTestId("commit");
    await fireEvent.keyDown(screen.getByTestId("next"), { key: "Backspace" });
    expect(screen.queryByTestId("commit")).toBeNull();
    expect(screen.getByTestId("keyed").dataset["faces"]).toBe("4,4");
  });
});

describe("blanks", () => {
  test("begin with what is given, else with the least", () => {
    const tumbles = blank("tumbles", "whole", { least: 3, most: 20 });
    expect(begun(tumbles, {})).toBe(3);
    expect(begun(tumbles, { tumbles: 5 })).toBe(5);
    expect(begun(blank("passed", "yes-no"), {})).toBeUndefined();
    expect(begun(blank("round", "whole", { least: 1, optional: true }), {})).toBeUndefined();
  });
  test("faces are three or, where they may be left out, none", () => {
    expect(isFilled(blank("faces", "faces"), [1, 2])).toBe(false);
    expect(isFilled(blank("faces", "faces"), [1, 2, 3])).toBe(true);
    expect(isFilled(blank("entered", "faces", { optional: true }), [])).toBe(true);
    expect(isFilled(blank("entered", "faces", { optional: true }), [1])).toBe(false);
  });
  test("no is an answer, and nothing is none", () => {
    expect(isFilled(blank("passed", "yes-no"), false)).toBe(true);
    expect(filledFields([blank("passed", "yes-no"), blank("detail", "text", { optional: true }), second], { passed: false, detail: "", second: "x" })).toEqual({ passed: false });
  });
});

describe("the form", () => {
  const blanks = [blank("runs", "whole", { least: 3, most: 9 }), blank("passed", "yes-no"), blank("detail", "text", { most: 500, optional: true }), second];

  test("sends what was filled in, once everything is", async () => {
    const onsubmit = vi.fn().mockResolvedValue(true);
    render(Form, { blanks, label: "Do", onsubmit });
    const confirm = screen.getByTestId("confirm") as HTMLButtonElement;
    expect(confirm.disabled).toBe(true);
    await fireEvent.click(screen.getByTestId("field-passed-no"));
    await fireEvent.click(screen.getByRole("button", { name: "More: runs" }));
    expect(confirm.disabled).toBe(false);
    await fireEvent.click(confirm);
    await waitFor(() => expect(onsubmit).toHaveBeenCalledWith({ runs: 4, passed: false }));
  });
  test("keys three faces and no fourth, and takes one back", async () => {
    const onsubmit = vi.fn().mockResolvedValue(true);
    render(Form, { blanks: [blank("faces", "faces")], label: "Do", onsubmit });
    for (const face of [2, 6, 1]) await fireEvent.click(screen.getByTestId(`face-${face}`));
    expect((screen.getByTestId("face-4") as HTMLButtonElement).disabled).toBe(true);
    await fireEvent.click(screen.getByRole("button", { name: "Delete the last key" }));
    await fireEvent.click(screen.getByTestId("face-4"));
    await fireEvent.click(screen.getByTestId("confirm"));
    await waitFor(() => expect(onsubmit).toHaveBeenCalledWith({ faces: [2, 6, 4] }));
  });
  test("has a blank only with the values of another that ask for it, and sends no other", async () => {
    const onsubmit = vi.fn().mockResolvedValue(true);
    const choices = ["add", "move"].map((value) => ({ value, label: words(value) }));
    const text = (field: string, ...changes: string[]) => blank(field, "text", { most: 9, when: { change: changes } });
    render(Form, { blanks: [blank("change", "choice", { choices }), text("id", "move"), text("area", "add", "move"), text("seat", "add")], label: "Do", onsubmit });
    expect(screen.queryByTestId("field-area")).toBeNull();
    await fireEvent.click(screen.getByTestId("field-change-add"));
    for (const field of ["seat", "area"]) await fireEvent.input(screen.getByTestId(`field-${field}`), { target: { value: "x" } });
    await fireEvent.click(screen.getByTestId("field-change-move"));
    expect(screen.queryByTestId("field-seat")).toBeNull();
    expect((screen.getByTestId("confirm") as HTMLButtonElement).disabled).toBe(true);
    await fireEvent.input(screen.getByTestId("field-id"), { target: { value: "b1" } });
    await fireEvent.click(screen.getByTestId("confirm"));
    await waitFor(() => expect(onsubmit).toHaveBeenCalledWith({ change: "move", id: "b1", area: "x" }));
  });
  test("says why it was refused, and can be sent again", async () => {
    const refused = new Refused({ reason: "bad-value", message: "expected a reason, got none", clause: "5.1" });
    const onsubmit = vi.fn().mockRejectedValueOnce(refused).mockResolvedValue(true);
    render(Form, { blanks: [blank("reason", "text", { least: 1 })], defaults: { reason: "rain" }, label: "Do", onsubmit });
    await fireEvent.click(screen.getByTestId("confirm"));
    expect((await screen.findByTestId("refusal")).textContent).toMatch(/expected a reason, got none.*5\.1/);
    await fireEvent.click(screen.getByTestId("confirm"));
    await waitFor(() => expect(screen.queryByTestId("refusal")).toBeNull());
  });
  test("limits are typed in whole units and sent in minor ones", async () => {
    const onsubmit = vi.fn().mockResolvedValue(true);
    render(Form, { blanks: [blank("limits", "limits")], defaults: { limits: { least: 500, most: 100_000, groups: { total: [500, 50_000] }, exposure: null } }, label: "Do", currency: "SGD", onsubmit });
    await fireEvent.change(screen.getByTestId("limits-total-most"), { target: { value: "12.5" } });
    await fireEvent.click(screen.getByTestId("confirm"));
    await waitFor(() => expect(onsubmit).toHaveBeenCalledWith({ limits: { least: 500, most: 100_000, groups: { total: [500, 1_250] }, exposure: null } }));
  });
  test("single bets go back or count elsewhere; those untouched are not sent", async () => {
    const onsubmit = vi.fn().mockResolvedValue(true);
    const bet = (id: string) => ({ id, seat: "1", layout: "A", area: "big", label: words("Big"), stake: 500, means: "cash-chips", state: "open" as const, won: 0, returned: 0, kept_out: 0, clause: null, kept_out_by: null, lay: true, ruled: null });
    render(Form, { blanks: [blank("bets", "bets")], bets: [bet("a"), bet("b")], label: "Do", currency: "PLAY", onsubmit });
    expect((screen.getByTestId("confirm") as HTMLButtonElement).disabled).toBe(true);
    await fireEvent.change(screen.getByTestId("treat-b"), { target: { value: "(back)" } });
    await fireEvent.click(screen.getByTestId("confirm"));
    await waitFor(() => expect(onsubmit).toHaveBeenCalledWith({ bets: { b: null } }));
  });
});
