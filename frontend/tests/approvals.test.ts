// What waits for a person's approval, and what the person who asks sees.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { SvelteMap } from "svelte/reactivity";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import Approvals from "../src/shared/Approvals.svelte";
import SecondPerson from "../src/shared/SecondPerson.svelte";
import { SecondPersonRequests } from "../src/shared/secondPerson.svelte";
import type { Staff } from "../src/shared/StaffSession.svelte";
import type { Connection } from "../src/connection/connection.svelte";
import { serverNow } from "../src/connection/clock.svelte";
import type { ApprovalLine, OwnApprovalLine } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";

const words = (en: string, zh = en) => ({ en, zh });
const line = (more: Partial<ApprovalLine> = {}): ApprovalLine => ({
  id: "a1", by: "Cat Wong", rank: "cashier", what: words("Send chips from the cage to the tray", "从账房向筹码盘补充筹码"), then: null, table: "T1", seat: null,
  fields: [{ label: words("Amount", "金额"), value: words("50000"), amount: 50_000 }], asked: serverNow(), until: serverNow() + 90_000, ...more,
});
const own = (more: Partial<OwnApprovalLine> = {}): OwnApprovalLine => ({
  id: "a1", state: "waiting", until: serverNow() + 90_000, by: null, reason: "", ranks: ["pit-supervisor", "shift-manager"], people: [], asks: line(), ...more,
});

let asked: [string, string, unknown][] = [];
let answers: [number, object][] = [];
const views = new SvelteMap<string, unknown>();
let heard = (): void => undefined;
const connection = { views, welcome: { currency: "SGD" }, follow: async (_feed: string, listener?: () => void) => { heard = listener ?? heard; } } as unknown as Connection;
const shows = (waiting: ApprovalLine[], mine: OwnApprovalLine[] = []): void => { views.set("approvals", { of: "approvals", waiting, own: mine }); heard(); };

beforeEach(async () => {
  await loadLanguage("en");
  asked = [];
  answers = [];
  views.clear();
  HTMLDialogElement.prototype.showModal ??= vi.fn();
  vi.stubGlobal("fetch", async (path: string, { method, body }: { method: string; body: string | null }) => {
    asked.push([method, path, body ? JSON.parse(body) : null]);
    const [status, told] = answers.shift() ?? [200, { done: true, uri: null, approval: "a1", until: 0 }];
    return new Response(JSON.stringify(told), { status });
  });
});
afterEach(() => vi.unstubAllGlobals());

const desk = () => render(Approvals, { staff: { connection, token: "token", role: "pit-supervisor", person: "Pat Koh", isDemonstration: false } as Staff });

test("shows who asks for what, with every amount, and nothing where nothing waits", async () => {
  desk();
  expect(screen.queryByTestId("approvals")).toBeNull();
  shows([line()]);
  const card = await screen.findByTestId("approval");
  for (const text of ["Cat Wong", "Cashier", "table T1", "Send chips from the cage", "Amount", "$500.00"]) expect(card.textContent).toContain(text);
  await loadLanguage("zh");
  await waitFor(() => expect(card.textContent).toContain("从账房向筹码盘补充筹码"));
  for (const text of ["账房员", "金额", "批准", "拒绝"]) expect(card.textContent).toContain(text);
});

test("what the asker wrote is text, and nothing else", async () => {
  desk();
  shows([line({ fields: [{ label: words("Reason"), value: words("<b id=evil>x</b>"), amount: null }] })]);
  expect((await screen.findByTestId("approval")).textContent).toContain("<b id=evil>x</b>");
  expect(document.getElementById("evil")).toBeNull();
});

test("one press approves; where the last code is old, the person's own is asked for", async () => {
  desk();
  shows([line()]);
  answers = [[403, { reason: "code-needed", message: "give a code" }], [401, { reason: "wrong", message: "no" }]];
  await fireEvent.click(await screen.findByTestId("approve"));
  await fireEvent.input(await screen.findByTestId("approval-code"), { target: { value: "123456" } });
  await fireEvent.click(screen.getByTestId("approval-confirm"));
  await waitFor(() => expect([asked.length, (screen.getByTestId("approval-confirm") as HTMLButtonElement).disabled]).toEqual([2, false]));
  await fireEvent.input(await screen.findByTestId("approval-code"), { target: { value: "654321" } });
  await fireEvent.click(screen.getByTestId("approval-confirm"));
  await waitFor(() => expect(screen.queryByTestId("approval-code")).toBeNull());
  const path = "/api/approvals/a1/approve";
  expect(asked).toEqual([["POST", path, {}], ["POST", path, { code: "123456" }], ["POST", path, { code: "654321" }]]);
});

test("a passkey takes the place of the code", async () => {
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("PublicKeyCredential", { parseCreationOptionsFromJSON: (options: unknown) => options, parseRequestOptionsFromJSON: (options: unknown) => options });
  vi.stubGlobal("navigator", { credentials: { get: async () => ({ toJSON: () => ({ id: "mine" }) }) } });
  desk();
  shows([line()]);
  answers = [[403, { reason: "code-needed", message: "give a code" }], [200, { challenge: "c1", host: "localhost" }]];
  await fireEvent.click(await screen.findByTestId("approve"));
  await fireEvent.click(await screen.findByTestId("approval-passkey"));
  await waitFor(() => expect(screen.queryByTestId("approval-code")).toBeNull());
  expect(asked[2]).toEqual(["POST", "/api/approvals/a1/approve", { challenge: "c1", assertion: { id: "mine" } }]);
});

test("a reason goes with a refusal", async () => {
  desk();
  shows([line()]);
  await fireEvent.click(await screen.findByTestId("decline"));
  expect(asked).toEqual([]);
  await fireEvent.input(screen.getByTestId("approval-reason"), { target: { value: "count it again" } });
  await fireEvent.click(screen.getByTestId("approval-confirm"));
  await waitFor(() => expect(asked).toEqual([["POST", "/api/approvals/a1/decline", { reason: "count it again" }]]));
});

test("the asker is told who may approve, who has it on a page, and what became of it", async () => {
  const second = new SecondPersonRequests(connection, "token", false);
  const approval = second.ask({ type: "books" }, "the books");
  await vi.waitFor(() => expect(second.waiting).not.toBeNull());
  render(SecondPerson, { second });
  shows([], [own()]);
  await waitFor(() => expect(screen.getByTestId("second").textContent).toContain("Pit Supervisor / Shift Manager"));
  expect(screen.getByTestId("second-nobody").textContent).toContain("sign in");
  expect(document.querySelector('input[type="password"]')).toBeNull();
  expect(screen.queryByTestId("second-agree")).toBeNull();
  shows([], [own({ people: ["Pat Koh"] })]);
  await waitFor(() => expect(screen.getByTestId("second-people").textContent).toContain("Pat Koh"));
  shows([], [own({ state: "declined", by: "Pat Koh", reason: "count it again" })]);
  await waitFor(() => expect(screen.getByTestId("second-over").textContent).toContain("count it again"));
  await fireEvent.click(screen.getByTestId("cancel"));
  expect(await approval).toBeNull();
});

test("a second person who is here reads it all and approves with their own passkey", async () => {
  const second = new SecondPersonRequests(connection, "token", false);
  void second.ask({ type: "books" }, "the books");
  await vi.waitFor(() => expect(second.waiting).not.toBeNull());
  const { unmount } = render(SecondPerson, { second });
  shows([], [own()]);
  expect(screen.queryByTestId("second-here")).toBeNull(); // a browser without passkeys
  unmount();
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("PublicKeyCredential", { parseCreationOptionsFromJSON: (options: unknown) => options, parseRequestOptionsFromJSON: (options: unknown) => options });
  vi.stubGlobal("navigator", { credentials: { get: async () => ({ toJSON: () => ({ id: "mine" }) }) } });
  render(SecondPerson, { second });
  const here = await screen.findByTestId("second-here");
  for (const text of ["Cat Wong", "Send chips from the cage", "Amount", "$500.00"]) expect(here.textContent).toContain(text);
  expect(document.querySelector('input[type="password"], input[autocomplete="one-time-code"]')).toBeNull();
  answers = [[200, { challenge: "c1", host: "localhost" }], [200, { done: true }]];
  await fireEvent.input(screen.getByTestId("second-name"), { target: { value: " Pat Koh " } });
  await fireEvent.click(screen.getByTestId("second-passkey"));
  await waitFor(() => expect(asked.slice(1)).toEqual([
    ["POST", "/api/approvals/a1/challenge", null],
    ["POST", "/api/approvals/a1/approve-here", { person: "Pat Koh", challenge: "c1", assertion: { id: "mine" } }],
  ]));
});
