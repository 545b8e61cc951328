// Who may do something, in words: positions lowest first, or the clock.
import { say, sayAny } from "../words/index.svelte";

export const whose = (by: readonly string[]): string =>
  by.map((one) => (one === "clock" ? say("console.byClock") : sayAny(`rank.${one}`))).join(" / ");
