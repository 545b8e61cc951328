// First sign-in and one's own account: what is typed goes to the server and nowhere else.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import FirstSignIn from "../src/account/FirstSignIn.svelte";
import OwnCredentials from "../src/account/OwnCredentials.svelte";
import { loadLanguage } from "../src/i18n/index.svelte";

const SETUP = { setup: "a-token", person: "Sue Tan", uri: "otpauth://totp/Lotus:Sue%20Tan?secret=ABCDEFGHIJKL", until: 1_794_800_000_000, passkey: null };
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
    await types("activation", "7k3m-x0qt-9hwd");
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
    expect(asked[0]).toEqual(["/api/first-sign-in", { person: "Sue Tan", activation: "7k3m-x0qt-9hwd" }]);
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
