// The names of those who may do something: ranks from the lowest, or the clock.
import { t, tDynamic } from "../i18n/index.svelte";

export const rankNames = (by: readonly string[]): string =>
  by.map((one) => (one === "clock" ? t("console.byClock") : tDynamic(`rank.${one}`))).join(" / ");
