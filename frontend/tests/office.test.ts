// The office: who may do what there, a second person where the server wants one, and a secret that is told once.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import Devices from "../src/office/Devices.svelte";
import Interpretations from "../src/office/Interpretations.svelte";
import People from "../src/office/People.svelte";
import { inOrder, isKey, keyOf, StaffList } from "../src/office/staffList.svelte";
import { StaffRequests } from "../src/pit/staffRequests.svelte";
import type { Connection } from "../src/connection/connection.svelte";
import type { DeviceResponse, EditionResponse, InterpretationsResponse, StaffMember } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";

const someone = (person: string, rank: string, more: Partial<StaffMember> = {}): StaffMember => ({ person, rank, locked: false, has_credentials: true, sessions: 0, activation: null, recovered: false, ...more });
const PEOPLE = [someone("Dan Ho", "dealer", { locked: true }), someone("Ann Lee", "administrator", { sessions: 1 }), someone("Bo Chu", "dealer")];
const DEVICES: DeviceResponse[] = [{ device: "P7", kind: "terminal", table: "SB1", seat: "7", key: "ab".repeat(32) }];
const EDITION: EditionResponse = {
  rulebook: "rws", edition: 2, title: { en: "Sic Bo", zh: "骰宝" }, digest: "sha256:9157253e11e5aa", rank: "shift-manager", asked_by: "5.10", tables: ["SB1"],
  interpretations: [0, 1].map((place) => ({ clauses: [{ clause: `3.${place}`, says: "a clause" }], reading: `reading ${place}`, reason: "a reason" })),
};
const READINGS: InterpretationsResponse = { editions: [EDITION], adopted: [] };
const GIVEN = { done: true, activation: "7K3M-X0QT-9HWD-4PZC-B6RN-1VJE-8S2G", until: 1_794_800_000_000 };

interface Request { method: string; path: string; body: Record<string, unknown> | null }
let asked: Request[] = [];
let answers: Record<string, (request: Request) => [number, object]> = {};

beforeAll(() => loadLanguage("en"));
beforeEach(() => {
  asked = [];
  answers = {};
  vi.stubGlobal("fetch", (path: string, { method, body }: { method: string; body: string | null }) => {
    const request: Request = { method, path, body: body ? (JSON.parse(body) as Record<string, unknown>) : null };
    const known: Record<string, object> = { "/api/staff": PEOPLE, "/api/devices": DEVICES, "/api/interpretations": READINGS, "/health": { tables: [{ name: "SB1" }] } };
    if (method !== "GET") asked.push(request);
    const [status, told] = method === "GET" ? [200, known[path]] : (answers[`${method} ${path}`]?.(request) ?? [200, { done: true, activation: null, until: null }]);
    return Promise.resolve(new Response(JSON.stringify(told), { status }));
  });
});
afterEach(() => vi.unstubAllGlobals());

const views = new Map<string, unknown>();
let heard = (): void => undefined;
const connection = { views, follow: async (_feed: string, listener: () => void) => { heard = listener; } } as unknown as Connection;

async function rollOf(role: string): Promise<StaffList> {
  const staffList = new StaffList(new StaffRequests(connection, "token", true), role);
  await staffList.look();
  return staffList;
}
const TWO = (request: Request): [number, object] => (request.body?.["approval"] ? [200, GIVEN] : [403, { reason: "second-person", message: "expected two, got one" }]);

describe("the staffList", () => {
  it("has the highest rank first, then goes by name", () => {
    expect(inOrder(PEOPLE).map((one) => one.person)).toEqual(["Ann Lee", "Bo Chu", "Dan Ho"]);
  });
  it("takes a key as it is copied, and no other", () => {
    expect(keyOf(" AB cd\n01 ")).toBe("abcd01");
    expect([isKey("ab".repeat(32)), isKey("ab".repeat(31)), isKey("xy".repeat(32))]).toEqual([true, false, false]);
  });
  it("asks for a second person when the server requires one, and sends exactly what they approved", async () => {
    answers = { "POST /api/staff": TWO, "POST /api/approvals": () => [200, { approval: "yes", until: 0 }] };
    const staffList = await rollOf("administrator");
    const body = { person: "Sue Tan", rank: "pit-supervisor", activate: true };
    const done = staffList.ask("POST", ["staff"], body, "what");
    await waitFor(() => expect(staffList.requests.second.waiting).not.toBeNull());
    views.set("approvals", { own: [{ id: "yes", state: "approved" }] });
    heard();
    expect((await done)?.activation).toBe(GIVEN.activation);
    expect(asked[1]?.body).toEqual({ request: { endpoint: "POST /api/staff", body } });
    expect(asked[2]?.body).toEqual({ ...body, approval: "yes" });
  });
  it("does nothing where nobody agrees", async () => {
    const staffList = await rollOf("administrator");
    const done = staffList.ask("POST", ["staff", "Dan Ho", "unlock"], { reason: "known" }, "what", true);
    await waitFor(() => expect(staffList.requests.second.waiting).not.toBeNull());
    staffList.requests.second.close();
    expect(await done).toBeNull();
    const request = { endpoint: "POST /api/staff/Dan Ho/unlock", body: { reason: "known" } };
    expect(asked.map(({ method, path, body }) => [method, path.replace(/approvals\/.*/, "approvals/…"), body])).toEqual([["POST", "/api/approvals", { request }], ["DELETE", "/api/approvals/…", null]]);
  });
});

describe("people and devices", () => {
  it.each([
    ["administrator", ["change", "dismiss", "revoke", "unlock"], true],
    ["shift-manager", ["revoke", "unlock"], false],
    ["auditor", [], false],
  ])("%s sees only what they may do", async (role, acts, mayEnrol) => {
    const { container } = render(People, { staffList: await rollOf(role), wanted: "dan" });
    expect(container.querySelectorAll("tbody tr")).toHaveLength(1);
    expect([...container.querySelectorAll("tbody button")].map((one) => (one as HTMLElement).dataset["testid"]).sort()).toEqual(acts);
    expect(screen.queryByTestId("enrol-person") !== null).toBe(mayEnrol);
  });
  it("an activation code is shown once, and no password is asked for", async () => {
    answers = { "POST /api/staff": () => [200, GIVEN] };
    const { container } = render(People, { staffList: await rollOf("administrator"), wanted: "" });
    expect(container.querySelector("input[type=password]")).toBeNull();
    await fireEvent.input(screen.getByTestId("new-person"), { target: { value: "Sue Tan" } });
    await fireEvent.submit(screen.getByTestId("enrol-person"));
    expect((await screen.findByTestId("activation-code")).textContent).toBe(GIVEN.activation);
    expect(asked[0]?.body).toEqual({ person: "Sue Tan", rank: "dealer", activate: true });
    await fireEvent.click(screen.getByTestId("activation-done"));
    expect(document.body.textContent).not.toContain(GIVEN.activation);
  });
  it("a change of rank leaves the credentials of a person as they are, unless a new code is wanted", async () => {
    render(People, { staffList: await rollOf("administrator"), wanted: "bo" });
    await fireEvent.click(screen.getByTestId("change"));
    expect((screen.getByTestId("activate") as HTMLInputElement).checked).toBe(false);
    await fireEvent.click(screen.getByTestId("activate"));
    expect(screen.getByTestId("enrol-person").textContent).toContain("This cannot be undone.");
  });
  it("recovered access is acknowledged, and a code that waits is told", async () => {
    const staffList = await rollOf("shift-manager");
    staffList.people = [someone("Zoe Ng", "shift-manager", { has_credentials: false, activation: GIVEN.until, recovered: true })];
    render(People, { staffList, wanted: "" });
    expect(screen.getByTestId("person-Zoe Ng").textContent).toContain("Access recovered with the house's key");
    expect(screen.getByTestId("person-Zoe Ng").textContent).toContain("Code until");
    await fireEvent.click(screen.getByTestId("acknowledge"));
    await fireEvent.click(screen.getByTestId("sure-do"));
    await waitFor(() => expect(asked).toEqual([{ method: "POST", path: "/api/staff/Zoe%20Ng/acknowledge", body: null }]));
  });
  it("a key is short until it is asked for, and a device goes only when that is sure", async () => {
    render(Devices, { staffList: await rollOf("administrator"), wanted: "" });
    expect(screen.getByTestId("key").textContent).toBe("abababab…");
    await fireEvent.click(screen.getByTestId("key"));
    expect(screen.getByTestId("key").textContent).toBe("ab".repeat(32));
    await fireEvent.click(screen.getByTestId("dismiss-device"));
    expect(asked).toEqual([]);
    await fireEvent.input(screen.getByTestId("reason"), { target: { value: "its screen is dark" } });
    await fireEvent.click(screen.getByTestId("sure-do"));
    await waitFor(() => expect(asked).toEqual([{ method: "DELETE", path: "/api/devices", body: { device: "P7", reason: "its screen is dark" } }]));
  });
  it("a person is removed from the staff list by the exact name they were enrolled with", async () => {
    const staffList = await rollOf("administrator");
    staffList.people = [someone("..", "dealer")];
    render(People, { staffList, wanted: "" });
    await fireEvent.click(screen.getByTestId("dismiss"));
    await fireEvent.click(screen.getByTestId("sure-do"));
    await waitFor(() => expect(asked).toEqual([{ method: "DELETE", path: "/api/staff", body: { person: ".." } }]));
  });
});

describe("interpretations", () => {
  it("are adopted once each is read, and by no administrator", async () => {
    const staffList = await rollOf("shift-manager");
    expect(staffList.unadopted).toBe(1);
    const send = vi.spyOn(staffList.requests, "do").mockResolvedValue(null);
    const { unmount } = render(Interpretations, { staffList, person: "Max" });
    const adopt = screen.getByTestId("adopt") as HTMLButtonElement;
    for (const place of [0, 1]) {
      expect(adopt.disabled).toBe(true);
      await fireEvent.click(screen.getByTestId(`read-${place}`));
    }
    await fireEvent.click(adopt);
    const command = { command: "adopt-interpretations", rulebook: "rws", edition: 2, digest: EDITION.digest, rank: "shift-manager", asked_by: "5.10" };
    expect(send).toHaveBeenCalledWith(null, command, "Adopt the interpretations: rws, edition 2");
    unmount();
    render(Interpretations, { staffList: await rollOf("administrator"), person: "Ann" });
    expect(screen.queryByTestId("adopt")).toBeNull();
    expect(screen.queryByTestId("read-0")).toBeNull();
  });
});
