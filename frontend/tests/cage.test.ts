// The cashier's own logic: books in one table, tickets, and the report of a day.
import { render, screen } from "@testing-library/svelte";
import { beforeAll, expect, test } from "vitest";
import { accountsOf, sumOf } from "../src/cage/accounts";
import Report from "../src/cage/Report.svelte";
import Ticket from "../src/cage/Ticket.svelte";
import type { Books, ReportView, TakingsLine } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";

beforeAll(() => loadLanguage("en"));

const book = (of: string, accounts: Record<string, number>): Books => ({ of, accounts, held: 0, owed: 0 });

test("accounts of all books stand in one table, empty ones nowhere", () => {
  const books = [book("", { cage: 500, tickets: 0 }), book("T1", { chips: 100, cage: 0 })];
  expect(accountsOf(books)).toEqual(["cage", "chips"]);
  expect(sumOf(books, "cage")).toBe(500);
  expect(sumOf(books, "drop")).toBe(0);
});

const sold = { number: "04QC-0AJ5-7BW2-FQX0-BF04", amount: 50_000, at: 0, currency: "SGD", house: "Corner House", isPlay: false };

test("a ticket shows its number, its worth and its code", () => {
  render(Ticket, { ...sold, isRedeemed: false });
  expect(screen.getByTestId("ticket-number").textContent).toBe(sold.number);
  expect(screen.getByTestId("ticket-amount").textContent).toContain("500");
  expect(screen.getByRole("img").querySelector("path")?.getAttribute("d")?.length).toBeGreaterThan(500);
});

test("a ticket that was redeemed has no code that could be read again", () => {
  render(Ticket, { ...sold, isRedeemed: true });
  expect(screen.queryByRole("img")).toBeNull();
  expect(screen.queryByTestId("print")).toBeNull();
});

test("the report has each table's figures as the server reckons them, and a dash where there is no hold", () => {
  const line = { table: "T1", currency: "SGD", day: "2026-11-16", shift: "", drop: 100_000, tickets_in: 0, tickets_out: 0, fills: 0, credits: 0, handle: 5_000, collected: 0, won: 0, win: -200, hold: null, hold_percent: null, rounds: 3, void: 1 } as TakingsLine;
  const report: ReportView = { day: "2026-11-16", tables: [line], totals: [{ ...line, table: "", hold_percent: "-0.20" }] };
  render(Report, { report, onday: () => undefined, isShort: true });
  const rows = screen.getAllByRole("row").map((row) => [...row.children].map((cell) => cell.textContent?.trim()));
  expect(rows[1]).toEqual(["T1", "$1,000.00", "$50.00", "-$2.00", "–", "3", "1"]);
  expect(rows[2]?.[4]).toBe("-0.20 %");
});
