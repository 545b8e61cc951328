// Long codes that people copy by hand, and the half minute of a code: what the pages forgive, and what they say.
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import FirstSignIn from "../src/account/FirstSignIn.svelte";
import { Refused } from "../src/connection/http";
import { loadLanguage } from "../src/i18n/index.svelte";
import { activationIn, inGroups, symbolsOf } from "../src/shared/groupedCode";
import SignIn from "../src/shared/SignIn.svelte";

const CODE = "7K3M-X0QT-9HWD-4PZC-B6RN-1VJE-8S2G";
const PLAIN = CODE.replaceAll("-", "");
const field = (testid: string) => screen.getByTestId(testid) as HTMLInputElement;

beforeAll(() => loadLanguage("en"));
afterEach(() => { vi.unstubAllGlobals(); vi.useRealTimers(); });

describe("a long code", () => {
  it.each([CODE, PLAIN, PLAIN.toLowerCase(), CODE.replaceAll("-", " "), `  ${CODE}\n`])("is shown in groups however it is typed (%j)", (typed) => {
    expect(inGroups(typed)).toBe(CODE);
    expect(symbolsOf(typed)).toHaveLength(28);
  });
  it("is found in the line that says whose it is", () => {
    expect(activationIn(`  ${CODE}  Ann Tan`)).toBe(CODE);
    expect(activationIn(`Ann Tan ${PLAIN.toLowerCase()}`)).toBe(CODE);
    expect(activationIn("7k3mx")).toBe("7K3M-X");
  });
  it("of a ticket has its last group shorter", () => {
    expect(inGroups("twzy6fhg3qtjd06x9hm729wjj07")).toBe("TWZY-6FHG-3QTJ-D06X-9HM7-29WJ-J07");
  });
});

describe("an activation code", () => {
  it("that is not whole is counted, and not sent: it would end after five tries", async () => {
    const asked = vi.fn();
    vi.stubGlobal("fetch", asked);
    render(FirstSignIn, {});
    expect(document.activeElement).toBe(field("person"));
    await fireEvent.input(field("person"), { target: { value: "Sue Tan" } });
    await fireEvent.input(field("activation"), { target: { value: PLAIN.slice(0, 24) } });
    expect(field("activation").value).toBe(CODE.slice(0, 29));
    await fireEvent.submit(screen.getByTestId("first-sign-in"));
    expect((await screen.findByTestId("why")).textContent).toMatch(/28 letters and digits, this one has 24/u);
    expect(asked).not.toHaveBeenCalled();
  });
  it("that is corrected in its middle keeps the place of the correction", async () => {
    render(FirstSignIn, {});
    const typed = field("activation");
    typed.value = "7k3m-x0q-9hwd";
    typed.setSelectionRange(8, 8);
    await fireEvent.input(typed);
    expect([typed.value, typed.selectionStart]).toEqual(["7k3m-x0q-9hwd", 8]);
  });
});

describe("a code that has just changed", () => {
  const refusing = () => Promise.reject(new Refused({ reason: "wrong", message: "the name, password or code is wrong" }));
  async function tries(): Promise<void> {
    for (const [testid, value] of [["person", "Ann Tan"], ["password", "seven red lanterns"], ["code", "123456"]] as const) await fireEvent.input(field(testid), { target: { value } });
    await fireEvent.submit(field("code").form as HTMLFormElement);
    await vi.waitFor(() => expect(screen.getByTestId("why").textContent).toContain("wait for the next"));
  }
  it("costs only the next code: the password stays, and the next code may be typed at once", async () => {
    render(SignIn, { title: "Sign in", oncredentials: refusing });
    await tries();
    expect([field("person").value, field("password").value, field("code").value]).toEqual(["Ann Tan", "seven red lanterns", ""]);
    expect(document.activeElement).toBe(field("code"));
  });
  it("leaves no password behind on a screen that somebody walked away from", async () => {
    vi.useFakeTimers();
    render(SignIn, { title: "Sign in", oncredentials: refusing });
    await tries();
    await vi.advanceTimersByTimeAsync(61_000);
    expect(field("password").value).toBe("");
  });
});
