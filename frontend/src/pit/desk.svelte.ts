// A table on a supervisor's desk: looked at from the pit, and acted on once he has come to it.
import type { Staff } from "./staff";
import { attempt, tellError } from "../parts/toast.svelte";
import { Floor } from "../connection/floor.svelte";
import { enter } from "../connection/identity";
import type { ConsoleView, FeltView, Offer, RoundView, TableView, FeltReply, RoundsReply } from "../connection/messages";
import { Acting } from "./acting.svelte";
import { once } from "./offers";

/** After these a layout has other limits or odds. */
const FELT_CHANGES = new Set(["limits-set", "odds-offered", "table-opened", "day-begun"]);

export class Desk {
  readonly table: string;
  readonly staff: Staff;
  acting = $state.raw<Acting>() as Acting;
  felt = $state.raw<FeltView | null>(null);
  /** The last rounds, the latest first, and the one in hand. */
  rounds = $state.raw<readonly RoundView[]>([]);
  readonly console: ConsoleView | undefined = $derived.by(() => this.staff.floor.views.get(`console:${this.table}`) as ConsoleView | undefined);
  readonly view: TableView | undefined = $derived.by(() => this.staff.floor.views.get(`table:${this.table}`) as TableView | undefined);
  readonly currency: string = $derived.by(() => this.view?.table.currency ?? "");
  /** As what he stands at the table, if he does. */
  readonly position: string | null = $derived.by(() => this.console?.people.find((one) => one.name === this.staff.person)?.position ?? null);
  #visit: Floor | null = null;

  constructor(table: string, staff: Staff) {
    this.table = table;
    this.staff = staff;
    this.acting = new Acting(staff.floor, staff.token, staff.isDemonstration);
  }

  async begin(): Promise<void> {
    await this.staff.floor.follow(`table:${this.table}`, (what) => {
      if (what.some((one) => FELT_CHANGES.has(one))) void attempt(() => this.lookAtFelt());
    });
    await this.staff.floor.follow(`console:${this.table}`);
    await this.lookAtFelt();
    if (this.position !== null) await this.come();
  }

  end(): void {
    this.#visit?.close();
    for (const feed of [`console:${this.table}`, `table:${this.table}`]) this.staff.floor.unfollow(feed).catch(() => undefined);
  }

  /** Comes to the table. The virtual supervisor of a demonstration stands back for as long as this visit lasts. */
  async come(): Promise<void> {
    try {
      if (this.staff.isDemonstration && !this.#visit) {
        const token = (await enter(this.staff.role, this.table)).token ?? "";
        this.#visit = new Floor({ token });
        this.acting = new Acting(this.#visit, token, true);
      }
      await this.acting.floor.send({ type: "take-position", table: this.table, position: this.staff.role }, { isSafe: true });
    } catch (error) {
      tellError(error);
    }
  }

  async lookAtFelt(): Promise<void> {
    this.felt = (await this.staff.floor.send<FeltReply>({ type: "felt", table: this.table }, { isSafe: true })).felt;
  }

  async lookBack(): Promise<void> {
    this.rounds = (await this.staff.floor.send<RoundsReply>({ type: "rounds", table: this.table, most: 10 }, { isSafe: true })).rounds;
  }

  /** What the floor offers of these commands. */
  offers(...commands: readonly string[]): readonly Offer[] {
    return once(this.console?.acts.filter((offer) => commands.includes(offer.command)) ?? []);
  }

  isMine(offer: { by: readonly string[] }): boolean {
    return this.position !== null && offer.by.includes(this.position);
  }

  /** What the blanks of an offer begin with: as it stands now. */
  get defaults(): Record<string, unknown> {
    const { limits } = this.view ?? {};
    const day = this.console ? Date.parse(`${this.console.day}T00:00:00Z`) + 86_400_000 : Number.NaN;
    return {
      limits: limits ? { ...limits, exposure: this.console?.exposure ?? null } : undefined,
      offers: { ...this.console?.offers },
      ...(Number.isNaN(day) ? {} : { day: new Date(day).toISOString().slice(0, 10) }),
    };
  }
}
