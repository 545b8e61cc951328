// The server's clock, by a watch of this device that nobody can set: what a device calls the time of day may be wrong, and
// may change while bets are open.

/** Milliseconds since 1970 when the page was opened, and from there on by a watch. */
const steady = (): number => performance.timeOrigin + performance.now();

let ahead = $state(Date.now() - steady());

/** What time it is at the server, in milliseconds since 1970. */
export const serverNow = (): number => steady() + ahead;

/** The server told what time it is there, within `took` milliseconds of being asked. */
export function setClock(now: number, took = 0): void {
  const next = now + took / 2 - steady();
  if (Math.abs(next - ahead) > took) ahead = next; // nearer than this nobody knows
}
