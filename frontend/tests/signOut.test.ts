// Every page on which somebody is signed in has a way out, in sight; a device and a demonstration have none.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { createRawSnippet } from "svelte";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Connection } from "../src/connection/connection.svelte";
import { saveSession, session } from "../src/connection/identity";
import { loadLanguage } from "../src/i18n/index.svelte";
import Page from "../src/shared/Page.svelte";

beforeAll(() => loadLanguage("en"));
afterEach(() => vi.unstubAllGlobals());
const children = createRawSnippet(() => ({ render: () => "<p>the page</p>" }));
const connected = (isSignedIn: boolean) => ({ state: "open", isDemonstration: false, isSignedIn, waiting: null }) as unknown as Connection;

const SRC = join(import.meta.dirname, "../src");
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".svelte"));
const pages = files.map((name) => [name, readFileSync(join(SRC, name), "utf8")] as const).filter(([, text]) => /<(StaffSession|SchoolSession)\b/.test(text));

describe("the way out", () => {
  it("is on the page of a person who is signed in, and ends the session", async () => {
    const sent: string[] = [];
    vi.stubGlobal("fetch", (path: string, { headers }: { headers: Record<string, string> }) => {
      sent.push(`${path} ${headers["Authorization"]}`);
      return Promise.resolve(new Response("{}"));
    });
    const reload = vi.fn();
    vi.stubGlobal("location", { ...location, reload });
    saveSession({ token: "t", role: "dealer", person: "Dan Ho" });
    render(Page, { title: "Pit", connection: connected(true), children });
    expect(screen.getByTestId("account").getAttribute("href")).toBe("/account");
    await fireEvent.click(screen.getByTestId("sign-out"));
    await waitFor(() => expect(reload).toHaveBeenCalledOnce());
    expect([sent, session()]).toEqual([["/api/sign-out Bearer t"], null]);
  });
  it("is on no page where nobody is", () => {
    render(Page, { title: "Display", connection: connected(false), children });
    expect(screen.queryByTestId("sign-out")).toBeNull();
  });
  it("is on all of the pages for staff", () => {
    expect(pages.map(([name]) => name.split("/")[0]).sort()).toEqual(["account", "cage", "console", "office", "pit", "recorder", "round", "school"]);
    for (const [name, text] of pages) expect(/<Page [^\n]*\{(connection|isSignedIn)\}/.test(text), name).toBe(true);
  });
});

describe("passwords", () => {
  it("are masked, and nothing keeps anybody from pasting or from a password manager", () => {
    const fields = files.flatMap((name) => readFileSync(join(SRC, name), "utf8").match(/<input\b[^>]*password[^>]*>/gi) ?? []).filter((field) => !field.includes('type="hidden"'));
    expect(fields.length).toBeGreaterThan(3);
    for (const field of fields) {
      expect(field).toContain('type="password"');
      expect(field).toMatch(/autocomplete="(current|new)-password"/);
      expect(field).not.toMatch(/onpaste|oncopy|onbeforeinput|readonly/);
    }
  });
});
