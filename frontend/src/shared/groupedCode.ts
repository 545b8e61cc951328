// Long codes that people copy by hand: activation codes and numbers of tickets, in groups of four.

/** The symbols of an activation code, without hyphens. */
export const ACTIVATION_SYMBOLS = 28;

/** What was typed, without what only separates groups. */
export const symbolsOf = (typed: string): string => typed.replace(/[\s\-‐‑‒–—_.]+/gu, "").toUpperCase();

/** In groups of four, as the code is shown where it is given out. */
export const inGroups = (typed: string): string => symbolsOf(typed).replace(/(.{4})(?=.)/gu, "$1-");

/** The activation code in a pasted text that says more, such as the line of `taisai init` with the name. */
export function activationIn(pasted: string): string {
  const found = /(?<![0-9A-Z])[0-9A-Z]{4}(?:[\s-]?[0-9A-Z]{4}){6}(?![0-9A-Z])/iu.exec(pasted);
  return inGroups(found ? found[0] : pasted);
}
