// The server's clock, kept with the browser's monotonic timer. The device's own time of day may be wrong, and may change
// while bets are open.

/** Milliseconds since 1970, counted from when the page opened by the monotonic timer. */
const steady = (): number => performance.timeOrigin + performance.now();

let ahead = $state(Date.now() - steady());

/** The server's time in milliseconds since 1970. */
export const serverNow = (): number => steady() + ahead;

/** Sets the clock from the server's time, which arrived `took` milliseconds after the request. */
export function setClock(now: number, took = 0): void {
  const next = now + took / 2 - steady();
  if (Math.abs(next - ahead) > took) ahead = next; // the error cannot be smaller than this
}
