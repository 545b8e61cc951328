// First sign-in and one's own account: what is typed goes to the server and nowhere else.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import FirstSignIn from "../src/account/FirstSignIn.svelte";
import OwnCredentials from "../src/account/OwnCredentials.svelte";
import OwnSessions from "../src/account/OwnSessions.svelte";
import { http } from "../src/connection/http";
import { renewSession, saveSession, session } from "../src/connection/identity";
import { loadLanguage } from "../src/i18n/index.svelte";

const SETUP = { setup: "a-token", person: "Sue Tan", uri: "otpauth://totp/Lotus:Sue%20Tan?secret=ABCDEFGHIJKL", until: 1_794_800_000_000, passkey: null, may_set_password: true, token: null };
const REFUSED = { reason: "wrong-activation", message: "name and activation code do not match", clause: null };
let asked: [string, unknown][] = [];
let answers: [number, object][] = [];

beforeAll(() => loadLanguage("en"));
beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", (path: string, { body }: { body: string }) => {
    asked.push([path, JSON.parse(body)]);
    const [status, told] = answers.shift() ?? [200, { done: true }];
    return Promise.resolve(new Response(JSON.stringify(told), { status }));
  });
});
afterEach(() => vi.unstubAllGlobals());

const types = (testid: string, value: string) => fireEvent.input(screen.getByTestId(testid), { target: { value } });

describe("a first sign-in", () => {
  it("leads from the code over one's own password and authenticator to the sign-in", async () => {
    answers = [[401, REFUSED], [200, SETUP]];
    render(FirstSignIn, {});
    await types("person", " Sue Tan ");
    await types("activation", "7k3m-x0qt-9hwd-4pzc-b6rn-1vje-8s2g");
    await fireEvent.submit(screen.getByTestId("first-sign-in"));
    expect((await screen.findByTestId("why")).textContent).toContain("do not match");
    await fireEvent.submit(screen.getByTestId("first-sign-in"));
    expect((await screen.findByTestId("secret")).textContent).toBe("ABCD EFGH IJKL");
    await types("password", "seven red lanterns");
    await types("again", "seven red lantern");
    expect((screen.getByTestId("save") as HTMLButtonElement).disabled).toBe(true);
    await types("again", "seven red lanterns");
    await types("code", "123456");
    await fireEvent.submit(screen.getByTestId("own-credentials"));
    await screen.findByTestId("done");
    expect(asked.at(-1)).toEqual(["/api/credentials", { setup: "a-token", password: "seven red lanterns", code: "123456" }]);
    expect(asked[0]).toEqual(["/api/first-sign-in", { person: "Sue Tan", activation: "7K3M-X0QT-9HWD-4PZC-B6RN-1VJE-8S2G" }]);
    expect(document.body.innerHTML).not.toContain("ABCD EFGH");
  });
});

describe("one's own credentials", () => {
  it("keep the authenticator where only the password changes, and the reverse", async () => {
    const ondone = vi.fn();
    render(OwnCredentials, { setup: SETUP, isFirst: false, ondone });
    expect(screen.queryByTestId("secret")).toBeNull();
    expect((screen.getByTestId("save") as HTMLButtonElement).disabled).toBe(true);
    await types("password", "seven red lanterns");
    await types("again", "seven red lanterns");
    await fireEvent.submit(screen.getByTestId("own-credentials"));
    await waitFor(() => expect(ondone).toHaveBeenCalledOnce());
    await types("password", "");
    await types("again", "");
    await fireEvent.click(screen.getByTestId("new-authenticator"));
    await types("code", "123456");
    await fireEvent.submit(screen.getByTestId("own-credentials"));
    await waitFor(() => expect(asked).toHaveLength(2));
    expect(asked.map(([, body]) => body)).toEqual([{ setup: "a-token", password: "seven red lanterns" }, { setup: "a-token", code: "123456" }]);
  });
});

describe("a password", () => {
  it("is masked, may be pasted, and is open to password managers", async () => {
    render(OwnCredentials, { setup: SETUP, isFirst: true, ondone: vi.fn() });
    for (const id of ["password", "again"]) {
      const field = screen.getByTestId<HTMLInputElement>(id);
      expect([field.type, field.autocomplete]).toEqual(["password", "new-password"]);
      expect(await fireEvent.paste(field)).toBe(true); // nothing prevents it
    }
  });
  it("cannot be set by someone who has not typed the old one", () => {
    render(OwnCredentials, { setup: { ...SETUP, may_set_password: false }, isFirst: false, ondone: vi.fn() });
    expect(screen.queryByTestId("password")).toBeNull();
    expect(screen.getByTestId("no-new-password").textContent).toContain("type it before");
  });
});

describe("one's own sessions", () => {
  const HERE = { session: "a1", opened: 1_794_800_000_000, seen: 1_794_800_000_000, address: "192.0.2.7", is_this: true };
  const THERE = { ...HERE, session: "b2", address: "192.0.2.9", is_this: false };
  it("are listed; the others end with a code, and the page goes on with its new token", async () => {
    saveSession({ token: "old", role: "dealer", person: "Dan Ho" });
    const sent: [string, string, string | null][] = [];
    vi.stubGlobal("fetch", (path: string, { headers, body }: { headers: Record<string, string>; body: string | null }) => {
      sent.push([path, headers["Authorization"] ?? "", body]);
      const told = path === "/api/sessions" ? (sent.length === 1 ? [THERE, HERE] : [HERE]) : { done: true, activation: null, until: null, token: "new" };
      return Promise.resolve(new Response(JSON.stringify(told)));
    });
    render(OwnSessions, { staff: { token: "old" } });
    expect((await screen.findAllByTestId("own-session")).map((line) => line.textContent.includes("this page"))).toEqual([false, true]);
    expect(screen.getAllByTestId("end-session")).toHaveLength(1);
    await fireEvent.click(screen.getByTestId("end-others"));
    await types("end-code", "123456");
    await fireEvent.submit(screen.getByTestId("end-sessions"));
    await waitFor(() => expect(screen.getAllByTestId("own-session")).toHaveLength(1));
    expect(sent).toEqual([
      ["/api/sessions", "Bearer old", null],
      ["/api/sessions/end", "Bearer old", JSON.stringify({ code: "123456" })],
      ["/api/sessions", "Bearer new", null],
    ]);
    expect(session()?.token).toBe("new");
    expect(screen.queryByTestId("end-others")).toBeNull();
    saveSession(null);
  });
  it("end one by one too", async () => {
    const sent: unknown[] = [];
    vi.stubGlobal("fetch", (path: string, { body }: { body: string | null }) => {
      if (body) sent.push(JSON.parse(body));
      return Promise.resolve(new Response(JSON.stringify(path === "/api/sessions" ? [HERE, THERE] : { done: true, token: null })));
    });
    render(OwnSessions, { staff: { token: "t" } });
    await fireEvent.click(await screen.findByTestId("end-session"));
    await types("end-code", "654321");
    await fireEvent.submit(screen.getByTestId("end-sessions"));
    await waitFor(() => expect(sent).toEqual([{ code: "654321", session: "b2" }]));
  });
  it("have the newest token wherever an older one is used", async () => {
    saveSession({ token: "t1", role: "dealer", person: "Dan Ho" });
    renewSession("t1", "t2");
    renewSession("t1", "t3");
    renewSession("t1", null);
    let sent = "";
    vi.stubGlobal("fetch", (_path: string, { headers }: { headers: Record<string, string> }) => {
      sent = headers["Authorization"] ?? "";
      return Promise.resolve(new Response("{}"));
    });
    await http("GET", "/api/session", { token: "t1" });
    expect([sent, session()?.token]).toEqual(["Bearer t3", "t3"]);
    saveSession(null);
  });
});
