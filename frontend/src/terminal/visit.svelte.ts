// A visit to a seat: how long it has lasted, and what its rounds came to; both survive a reload.
import type { Seat } from "./seat.svelte";

const MINUTE = 60_000;
/** `before`: what the rounds before the latest came to; the latest may still be corrected. */
interface Kept { begun: number; before: number; round: number; latest: number }

export class Visit {
  #kept = $state.raw<Kept>({ begun: Date.now(), before: 0, round: 0, latest: 0 });
  #now = $state(Date.now());
  readonly #seat: Seat;
  readonly net: number = $derived.by(() => this.#kept.before + this.#kept.latest);
  readonly minutes: number = $derived.by(() => Math.max(0, Math.floor((this.#now - this.#kept.begun) / MINUTE)));

  constructor(seat: Seat) {
    this.#seat = seat;
  }

  get #place(): string {
    return `taisai-visit-${this.#seat.tableName}-${this.#seat.name}-${this.#seat.mine.session}`;
  }

  /** Takes the latest round into account; keeps the time as long as it is called for. */
  take(): () => void {
    const { last } = this.#seat.mine;
    const known = localStorage.getItem(this.#place);
    let kept: Kept = known ? (JSON.parse(known) as Kept) : { begun: Date.now(), before: 0, round: last?.number ?? 0, latest: 0 };
    if (last && last.number > kept.round) {
      kept = { ...kept, before: kept.before + kept.latest, round: last.number, latest: last.returned - last.staked };
    } else if (last && last.number === kept.round && known && kept.latest) {
      kept = { ...kept, latest: last.returned - last.staked };
    }
    localStorage.setItem(this.#place, JSON.stringify(kept));
    this.#kept = kept;
    const timer = setInterval(() => { this.#now = Date.now(); }, MINUTE / 4);
    return () => clearInterval(timer);
  }
}
