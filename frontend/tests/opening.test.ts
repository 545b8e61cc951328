// The first day: a table that was never opened, cash for credits, and a device without a name.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { SvelteMap } from "svelte/reactivity";
import { beforeAll, beforeEach, expect, it, vi } from "vitest";
import type { Connection, RequestBody } from "../src/connection/connection.svelte";
import { Refused } from "../src/connection/http";
import type { PitView } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";
import type { Desk } from "../src/pit/desk.svelte";
import PitOverview from "../src/pit/PitOverview.svelte";
import type { Staff } from "../src/pit/staff";
import TableMoney from "../src/pit/TableMoney.svelte";
import { dismissRefusals, showError, showMessage, toasts } from "../src/shared/toast.svelte";

const PIT: PitView = { of: "pit", tables: [], alarms: [], wins: [], locked: [], no_money: null, unopened: ["SB1"] };
let asked: RequestBody[] = [];
let answer: () => Promise<unknown>;

beforeAll(() => loadLanguage("en"));
beforeEach(() => { asked = []; answer = () => Promise.resolve({ type: "done" }); toasts.splice(0); });

function staff(): Staff {
  const views = new SvelteMap<string, unknown>([["pit", PIT]]);
  const send = (request: RequestBody) => {
    if (request.type === "report") return Promise.resolve({ report: null });
    asked.push(request);
    return answer();
  };
  return { connection: { views, send, follow: () => Promise.resolve(), newId: () => "n" } as unknown as Connection, token: "t", role: "pit-supervisor", person: "Pat Goh", isDemonstration: false };
}

it("a supervisor opens a table that was never opened", async () => {
  render(PitOverview, { staff: staff() });
  await fireEvent.click(screen.getByTestId("open-SB1"));
  await waitFor(() => expect(asked).toEqual([{ type: "open-table", table: "SB1" }]));
  await waitFor(() => expect(toasts.map((one) => one.text)).toContain("SB1 is open."));
});

it("where the interpretations are not adopted, the page says who does it and where", async () => {
  answer = () => Promise.reject(new Refused({ reason: "unmet-need", message: "not adopted", clause: "5.10" }));
  render(PitOverview, { staff: staff() });
  await fireEvent.click(screen.getByTestId("open-SB1"));
  const says = await screen.findByTestId("adopt-first");
  expect(says.textContent).toContain("shift manager");
  expect(says.querySelector("a")?.getAttribute("href")).toBe("/office");
  expect(toasts).toEqual([]);
});

it("credits for cash go to the seat of a terminal, in minor units", async () => {
  const seats = { taken: 2, shown: [{ seat: "7", player: "May", terminal: "T7", credits: 0, at_risk: 0 }, { seat: "2", player: "Al", terminal: null, credits: 0, at_risk: 0 }] };
  const did = vi.fn(() => Promise.resolve({ type: "done" }));
  const desk = { table: "SB1", currency: "SGD", position: "pit-supervisor", console: { seats, claims: [], transfers: [], offers: [] }, requests: { do: did }, staff: { role: "pit-supervisor" } } as unknown as Desk;
  render(TableMoney, { desk });
  expect([...(screen.getByTestId("credits-seat") as HTMLSelectElement).options].map((one) => one.value)).toEqual(["7"]);
  await fireEvent.input(screen.getByTestId("credits-amount"), { target: { value: "12.50" } });
  await fireEvent.submit((screen.getByTestId("sell-credits") as HTMLButtonElement).form as HTMLFormElement);
  await waitFor(() => expect(did).toHaveBeenCalledWith("SB1", { command: "buy-credits", seat: "7", amount: 1_250 }, "Credits to seat 7: $12.50"));
});

it("a refusal of the try before does not stand beside what is paid now", () => {
  showError(new Refused({ reason: "wrong", message: "no" }));
  showMessage("Pay the player $400.00");
  dismissRefusals();
  expect(toasts.map((one) => one.text)).toEqual(["Pay the player $400.00"]);
});
