// Dealer school: what a lesson comes to, which exercise comes next, and what is kept of it.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { bestOf, bests, saveIfBest, saveLastChoice, lastChoice } from "../src/school/bestScores";
import { Lesson, LENGTH } from "../src/school/lesson.svelte";
import { asksAbout, type Done, mostRelevant, scoreOf, streakOf, weakest } from "../src/school/results";
import { randomSeed, parseSeed, seedsFrom } from "../src/school/seeds";
import { byArea, inOrder, returning, typed } from "../src/school/bets";
import { exerciseLink, type LessonSettings, SchoolClient } from "../src/school/schoolClient";
import type { ExerciseResponse, RulingExerciseResponse, SchoolBet, SettleExerciseResponse, SettleJudgedResponse } from "../src/connection/messages";

const words = (en: string) => ({ en, zh: en });
const ASKED: LessonSettings = { kind: "settle", book: "some-book", layout: "A", level: 1 };
const bet = (seat: number, area: string, stake = 10): SchoolBet => ({ seat, colour: "red", colour_label: words("red"), area, label: words(area), stake });
const settle = (seed: number, ...areas: string[]): SettleExerciseResponse =>
  ({ ...ASKED, kind: "settle", title: words("Book"), seed, par: 1000, cards: false, faces: [1, 2, 3], bets: areas.map((area) => bet(1, area)) });
const rule = (seed: number, irregularity: string): RulingExerciseResponse =>
  ({ ...ASKED, kind: "ruling", title: words("Book"), seed, par: 1000, phase: "open", irregularity, label: words(irregularity), context: words(""), choices: [] });

/** Settled: each area with whether it was right. */
function settled(exercise: SettleExerciseResponse, right: Record<string, boolean>, score: number): Done {
  const lines = Object.entries(right).map(([area, is]) => (
    { area, label: words(area), stake: 10, answered: 0, returned: is ? 0 : 20, right: is, odds: null, clause: is ? "3.5" : "4.1", says: "" }));
  const judged: SettleJudgedResponse = { kind: "settle", score, bonus: 0, right: lines.filter((one) => one.right).length, of: lines.length, took: 5, par: 1000, bets: lines };
  return { exercise, judged };
}

describe("marks", () => {
  const good = settled(settle(1, "small"), { small: true }, 100);
  const bad = settled(settle(2, "small", "big"), { small: false, big: true }, 40);
  it("adds up", () => { expect(scoreOf([good, bad, good])).toBe(240); });
  it("counts what was all right in a row, up to the last", () => {
    expect([[], [good], [good, good], [bad, good], [good, bad]].map(streakOf)).toEqual([0, 1, 2, 1, 0]);
  });
  it("finds what went wrong most often, with the clause of the mistake", () => {
    const worse = settled(settle(3), { big: false, odd: false, small: true }, 0);
    const found = weakest([good, bad, worse, settled(settle(4), { odd: false }, 0)]);
    expect(found.map((one) => [one.id, one.wrong, one.of, one.clause])).toEqual([["odd", 2, 2, "4.1"], ["big", 1, 2, "4.1"], ["small", 1, 3, "4.1"]]);
  });
  it("counts keyed faces too, and says nothing of what was right", () => {
    const keyed: Done = {
      exercise: { ...ASKED, kind: "key", title: words(""), seed: 1, par: 1, cards: false, faces: [1, 1, 2] },
      judged: { kind: "key", score: 0, bonus: 0, right: 0, of: 2, took: 1, par: 1, faces: [1, 1, 2], keyed: [1, 2, 2], faces_right: false, areas: [] },
    };
    expect(weakest([keyed]).map((one) => one.id)).toEqual(["faces"]);
    expect(weakest([good])).toEqual([]);
  });
  it("takes the exercise that asks most about what is weak", () => {
    const some: ExerciseResponse[] = [settle(1, "odd"), settle(2, "small", "big"), settle(3, "big")];
    expect(mostRelevant(new Set(["small", "big"]), some)?.seed).toBe(2);
    expect(mostRelevant(new Set(), some)?.seed).toBe(1);
    expect(mostRelevant(new Set(["late-bet"]), [rule(7, "die-cocked"), rule(8, "late-bet")])?.seed).toBe(8);
    expect(asksAbout(rule(1, "late-bet"))).toEqual(["late-bet"]);
  });
});

describe("seeds", () => {
  it("are drawn by the browser's own source, and short enough to read out", () => {
    const drawn = vi.spyOn(crypto, "getRandomValues").mockImplementation((into) => { (into as unknown as Uint32Array)[0] = 4_294_967_295; return into; });
    expect(randomSeed()).toBe(967_295);
    expect(drawn).toHaveBeenCalledOnce();
    drawn.mockRestore();
  });
  it("follow on the one that a trainer gave", () => { expect(seedsFrom(8, 3, 9)).toEqual([8, 9, 0]); });
  it("are whole numbers that the school has", () => {
    expect(["7", " 7 ", "0", "10", "-1", "1.5", "x", "", null].map((text) => parseSeed(text, 9))).toEqual([7, 7, 0, null, null, null, null, null, null]);
  });
  it("make an address under which anyone finds the same exercise", () => {
    expect(exerciseLink(ASKED, 7)).toBe("/school?kind=settle&book=some-book&layout=A&level=1&seed=7");
  });
});

describe("bets", () => {
  it("are settled seat by seat, and keep their place in the exercise", () => {
    const lying = inOrder([bet(2, "big"), bet(1, "small"), bet(2, "small")]);
    expect(lying.map((one) => [one.seat, one.area, one.place])).toEqual([[1, "small", 1], [2, "big", 0], [2, "small", 2]]);
    expect([...byArea(lying)].map(([area, all]) => [area, all.length])).toEqual([["small", 2], ["big", 1]]);
  });
  it("light where something comes back", () => {
    const { judged } = settled(settle(1), { small: true, big: false }, 0);
    expect(judged.kind === "settle" && [...returning(judged.bets)]).toEqual(["big"]);
  });
  it("are answered in whole chips", () => { expect(["0", "120", "", "1.5", "-3", "a"].map(typed)).toEqual([0, 120, null, null, null, null]); });
});

describe("best lessons", () => {
  beforeEach(() => localStorage.clear());
  it("are kept for every sort, if they are better", () => {
    expect([saveIfBest(ASKED, 500, 1), saveIfBest(ASKED, 400, 2), saveIfBest(ASKED, 500, 3), saveIfBest(ASKED, 700, 4)]).toEqual([true, false, false, true]);
    saveIfBest({ ...ASKED, level: 2 }, 10, 5);
    expect(bestOf(ASKED)).toBe(700);
    expect(bestOf({ ...ASKED, layout: "B" })).toBeNull();
    expect(bests().map((one) => one.level)).toEqual([2, 1]);
  });
  it("are none where somebody else wrote there", () => {
    localStorage.setItem("taisai-school-best", "{not json");
    localStorage.setItem("taisai-school-last", "[]");
    expect([bests(), bestOf(ASKED), lastChoice()]).toEqual([[], null, null]);
    saveLastChoice(ASKED);
    expect(lastChoice()).toEqual(ASKED);
  });
});

describe("a lesson", () => {
  let sent: { path: string; body: Record<string, unknown> | null; token: string | null }[];
  let isSignedOut: boolean;
  const judged = (body: Record<string, unknown>): Done["judged"] => settled(settle(0), { small: body["seed"] !== 3 }, body["seed"] === 3 ? 0 : 100).judged;

  beforeEach(() => {
    sessionStorage.clear();
    sent = [];
    isSignedOut = false;
    vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
      const body = init.body ? (JSON.parse(String(init.body)) as Record<string, unknown>) : null;
      sent.push({ path, body, token: new Headers(init.headers).get("Authorization") });
      if (isSignedOut) return Response.json({ reason: "signed-out", message: "it is over", clause: null }, { status: 401 });
      if (body) return Response.json(judged(body));
      const seed = Number(new URL(path, "http://here").searchParams.get("seed"));
      return Response.json(path.includes("/felt") ? { layout: "A" } : settle(seed, seed % 2 ? "small" : "big"));
    });
  });
  const begun = async (plan = { asked: ASKED, seeds: seedsFrom(1, LENGTH, 99), weak: [] as string[], isDrill: false }) => {
    const lesson = new Lesson(new SchoolClient("secret", () => undefined), plan, 3_600_000);
    await lesson.next();
    return lesson;
  };
  const reply = { kind: "settle" as const, returned: [0] };

  it("is ten exercises, each answered once", async () => {
    const lesson = await begun();
    for (let place = 0; place < LENGTH; place += 1) {
      await lesson.next(); // not before it is answered
      expect(lesson.exercise?.seed).toBe(place + 1);
      await lesson.answer(reply);
      await lesson.answer(reply); // and not twice
      await lesson.next();
    }
    expect([lesson.isOver, lesson.done.length, lesson.score, lesson.streak]).toEqual([true, LENGTH, 900, 7]);
    expect(sent.filter((one) => one.body).map((one) => one.body?.["seed"])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(sent.every((one) => one.token === "Bearer secret")).toBe(true);
    expect(Lesson.kept(new SchoolClient(undefined, () => undefined), 1)).toBeNull();
  });

  it("says how long it took, and never more than the school hears", async () => {
    const lesson = await begun();
    lesson.begun = Date.now() - 9_000_000;
    await lesson.answer(reply);
    expect(sent.at(-1)?.body).toMatchObject({ ...ASKED, seed: 1, took: 3_600_000, returned: [0] });
  });

  it("is there again after a reload, with its clock", async () => {
    const lesson = await begun();
    await lesson.answer(reply);
    await lesson.next();
    const again = Lesson.kept(new SchoolClient(undefined, () => undefined), 3_600_000);
    await again?.next();
    expect([again?.exercise?.seed, again?.done.length, again?.score, again?.begun]).toEqual([2, 1, 100, lesson.begun]);
  });

  it("is drilled: what went wrong comes again, then exercises about the same", async () => {
    const lesson = await begun();
    for (let place = 0; place < 4; place += 1) { await lesson.answer(reply); await lesson.next(); }
    const plan = lesson.drill();
    expect(plan).toEqual({ asked: ASKED, seeds: [3], weak: ["small"], isDrill: true });
    const drill = await begun(plan);
    expect(drill.exercise?.seed).toBe(3);
    await drill.answer(reply);
    sent.length = 0;
    const seeds = [10, 20, 31, 40];
    const drawn = vi.spyOn(crypto, "getRandomValues").mockImplementation((into) => { (into as unknown as Uint32Array)[0] = seeds.shift() ?? 0; return into; });
    await drill.next();
    expect(drill.exercise?.seed).toBe(31);
    expect(sent).toHaveLength(4);
    drawn.mockRestore();
  });

  it("asks who it is when the session is over, and keeps the exercise", async () => {
    const ended = vi.fn();
    const lesson = new Lesson(new SchoolClient("secret", ended), { asked: ASKED, seeds: [1], weak: [], isDrill: false }, 1000);
    await lesson.next();
    isSignedOut = true;
    await expect(lesson.answer(reply)).rejects.toThrow("it is over");
    expect(ended).toHaveBeenCalledOnce();
    expect(Lesson.kept(new SchoolClient(undefined, ended), 1)?.done).toEqual([]);
  });
});
