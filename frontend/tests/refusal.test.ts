// Refusals as people read them: in their own language, with money by its locale, never in minor units.
import { beforeEach, describe, expect, it } from "vitest";
import { reasonOf } from "../src/parts/toast.svelte";
import { Refused } from "../src/connection/http";
import { keysOf } from "../src/words/refusal";
import { speak } from "../src/words/index.svelte";

const short = new Refused({ reason: "credits-short", message: "expected credits of 150000, got 50000", clause: "house:credits", sums: [150_000, 50_000] }, "SGD");

describe("a refusal", () => {
  beforeEach(() => speak("en"));
  it("tells what is needed and what there is, as money", () => {
    expect(reasonOf(short)).toEqual({ text: "Not enough credits: you need $1,500.00 and have $500.00. Buy credits first.", clause: "house:credits" });
  });
  it("is told in Chinese to whoever reads Chinese", async () => {
    await speak("zh");
    const { text } = reasonOf(short);
    expect(text).toMatch(/需要.*1,500\.00.*500\.00/);
    expect(text).not.toMatch(/150000|expected/);
  });
  it("is worded by the clause where the reason alone says too little", () => {
    const unknown = new Refused({ reason: "bad-value", message: "expected a ticket that was issued, got 'X'", clause: "house:tickets" });
    expect(reasonOf(unknown).text).toBe("No ticket has this number. Check the number and type it again.");
  });
  it("adds the floor's own words where its wording is general, to whoever understands them", async () => {
    const general = new Refused({ reason: "unmet-need", message: "expected the dome tested, got none", clause: "5.1" });
    expect(reasonOf(general).text).toContain("expected the dome tested");
    await speak("zh");
    expect(reasonOf(general).text).not.toContain("expected");
  });
  it("is told as it came where nobody knows its reason", () => {
    expect(reasonOf(new Refused({ reason: "brand-new", message: "expected this" })).text).toBe("Refused: expected this");
  });
  it("looks for the most particular wording first", () => {
    expect(keysOf(short)).toEqual(["refused.credits-short@house:credits:sums", "refused.credits-short@house:credits", "refused.credits-short:sums", "refused.credits-short"]);
    expect(keysOf(new Refused({ reason: "late", message: "", clause: "5.6" }))).toEqual(["refused.late"]);
  });
});
