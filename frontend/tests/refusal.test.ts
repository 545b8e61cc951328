// Refusals as people read them: in their own language, with money by its locale, never in minor units.
import { beforeEach, describe, expect, it } from "vitest";
import { errorText } from "../src/shared/toast.svelte";
import { Refused } from "../src/connection/http";
import { textKeysOf } from "../src/i18n/refusalText";
import { loadLanguage } from "../src/i18n/index.svelte";

const short = new Refused({ reason: "credits-short", message: "expected credits of 150000, got 50000", clause: "house:credits", sums: [150_000, 50_000] }, "SGD");

describe("a refusal", () => {
  beforeEach(() => loadLanguage("en"));
  it("tells what is needed and what there is, as money", () => {
    expect(errorText(short)).toEqual({ text: "Not enough credits: you need $1,500.00 and have $500.00. Buy credits first.", clause: "house:credits" });
  });
  it("is told in Chinese to whoever reads Chinese", async () => {
    await loadLanguage("zh");
    const { text } = errorText(short);
    expect(text).toMatch(/需要.*1,500\.00.*500\.00/);
    expect(text).not.toMatch(/150000|expected/);
  });
  it("is worded by the clause where the reason alone says too little", () => {
    const unknown = new Refused({ reason: "bad-value", message: "expected a ticket that was issued, got 'X'", clause: "house:tickets" });
    expect(errorText(unknown).text).toBe("No ticket has this number, or it was redeemed more than a week ago. Check the number and type it again.");
  });
  it("adds the server's own words where its wording is general, to whoever understands them", async () => {
    const general = new Refused({ reason: "unmet-need", message: "expected the dome tested, got none", clause: "5.1" });
    expect(errorText(general).text).toContain("expected the dome tested");
    await loadLanguage("zh");
    expect(errorText(general).text).not.toContain("expected");
  });
  it("is told as it came where nobody knows its reason", () => {
    expect(errorText(new Refused({ reason: "brand-new", message: "expected this" })).text).toBe("Refused: expected this");
  });
  it("looks for the most particular wording first", () => {
    expect(textKeysOf(short)).toEqual(["refused.credits-short@house:credits:sums", "refused.credits-short@house:credits", "refused.credits-short:sums", "refused.credits-short"]);
    expect(textKeysOf(new Refused({ reason: "late", message: "", clause: "5.6" }))).toEqual(["refused.late"]);
  });
});
