// The lobby: every role has a door, and a house at work shows nothing of play money.
import { fireEvent, render, screen } from "@testing-library/svelte";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import HouseLobby from "../src/lobby/HouseLobby.svelte";
import { linkOf, rolesAt } from "../src/lobby/links";
import Roles from "../src/lobby/Roles.svelte";
import Tour from "../src/lobby/Tour.svelte";
import { hide, nextStep, tour, went } from "../src/lobby/tour.svelte";
import type { DemoResponse } from "../src/connection/messages";
import { loadLanguage } from "../src/i18n/index.svelte";

const HERE = ["dealer", "pit-supervisor", "shift-manager"];
const THERE = ["dealer", "floorperson", "casino-supervisor"];
const ROLES = ["player", "dealer", "floorperson", "pit-supervisor", "casino-supervisor", "shift-manager", "cashier", "auditor", "administrator", "display"];
const spot = (table: string, ranks: string[]) => ({ table, rulebook: "r", dealer: "Lin", dealing: true, head: "Sato", ranks, players: [] });
const DEMO: DemoResponse = { currency: "PLAY", roles: ROLES, tables: [spot("T1", HERE), spot("T2", THERE)] };

beforeAll(() => loadLanguage("en"));

describe("doors", () => {
  it.each([
    ["player", "/terminal?table=T1"],
    ["display", "/display?table=T1"],
    ["dealer", "/console?table=T1"],
    ["shift-manager", "/console?table=T1&as=shift-manager"],
    ["cashier", "/cage"],
    ["auditor", "/round?table=T1&as=auditor"],
    ["administrator", "/office"],
  ])("%s: %s", (role, door) => expect(linkOf(role, "T1", HERE)).toBe(door));

  it("every role is at some table, or of the house", () => {
    const every = new Set([...HERE, ...THERE]);
    const seen = new Set([HERE, THERE].flatMap((ranks) => { const { here, house } = rolesAt(ROLES, ranks, every); return [...here, ...house]; }));
    expect([...seen].sort()).toEqual([...ROLES].sort());
    expect(rolesAt(ROLES, HERE, every).here).toEqual(["player", "dealer", "pit-supervisor", "shift-manager", "display"]);
  });
  it("follow the table that is chosen", async () => {
    const { container } = render(Roles, { demo: DEMO });
    await fireEvent.click(screen.getByRole("button", { name: "T2" }));
    expect(container.querySelector('[data-role="floorperson"]')?.getAttribute("href")).toBe("/console?table=T2&as=floorperson");
    expect(container.querySelector('[data-role="pit-supervisor"]')).toBeNull();
  });
});

describe("the tour", () => {
  beforeEach(() => { localStorage.clear(); tour.done = []; hide(false); });
  it("goes step by step, and remembers how far it went", () => {
    expect(nextStep()).toBe("play");
    went("play");
    went("play");
    expect(nextStep()).toBe("deal");
    expect(JSON.parse(localStorage.getItem("taisai-tour") ?? "")).toEqual({ isHidden: false, done: ["play"] });
  });
  it("can be put away and brought back", async () => {
    render(Tour, { table: "T1" });
    await fireEvent.click(screen.getByTestId("tour-hide"));
    expect(screen.queryByTestId("tour")).toBeNull();
    expect(localStorage.getItem("taisai-tour")).toContain('"isHidden":true');
    await fireEvent.click(screen.getByTestId("tour-show"));
    expect(screen.getByTestId("tour-play").getAttribute("href")).toBe("/terminal?table=T1");
  });
});

describe("a house at work", () => {
  it("has doors at each table, and not a word of play money", async () => {
    const health = { status: "ok", program: "p", demonstration: false, tables: [{ name: "SB1", rulebook: "r", phase: "open", number: 1, hold: null, shut: null }], sockets: 0, journal: 0, trouble: null, checks: [] };
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(health))));
    const { container } = render(HouseLobby);
    await screen.findByText("SB1");
    const doors = [...container.querySelectorAll("a")].map((one) => one.getAttribute("href"));
    expect(doors).toEqual(expect.arrayContaining(["/pit", "/cage", "/office", "/round", ...["terminal", "console", "display", "recorder", "round"].map((page) => `/${page}?table=SB1`)]));
    expect(container.textContent).not.toMatch(/play (money|credits)|demonstration/i);
    vi.unstubAllGlobals();
  });
});
