// A table at a supervisor's desk: watched from the pit, and acted on once the supervisor is at the table.
import type { Staff } from "./staff";
import { attempt, showError } from "../shared/toast.svelte";
import { Connection } from "../connection/connection.svelte";
import { enter } from "../connection/identity";
import type { ConsoleView, FeltView, Offer, RoundView, TableView, FeltReply, RoundsReply } from "../connection/messages";
import { StaffRequests } from "./staffRequests.svelte";
import { once } from "./offers";

/** After these a layout has other limits or odds. */
const FELT_CHANGES = new Set(["limits-set", "odds-offered", "table-opened", "day-begun"]);

export class Desk {
  readonly table: string;
  readonly staff: Staff;
  requests = $state.raw<StaffRequests>() as StaffRequests;
  felt = $state.raw<FeltView | null>(null);
  /** The last rounds, the latest first, and the one in hand. */
  rounds = $state.raw<readonly RoundView[]>([]);
  readonly console: ConsoleView | undefined = $derived.by(() => this.staff.connection.views.get(`console:${this.table}`) as ConsoleView | undefined);
  readonly view: TableView | undefined = $derived.by(() => this.staff.connection.views.get(`table:${this.table}`) as TableView | undefined);
  readonly currency: string = $derived.by(() => this.view?.table.currency ?? "");
  /** The supervisor's position at the table, or null. */
  readonly position: string | null = $derived.by(() => this.console?.people.find((one) => one.name === this.staff.person)?.position ?? null);
  #visit: Connection | null = null;

  constructor(table: string, staff: Staff) {
    this.table = table;
    this.staff = staff;
    this.requests = new StaffRequests(staff.connection, staff.token, staff.isDemonstration);
  }

  async begin(): Promise<void> {
    await this.staff.connection.follow(`table:${this.table}`, (what) => {
      if (what.some((one) => FELT_CHANGES.has(one))) void attempt(() => this.loadFelt());
    });
    await this.staff.connection.follow(`console:${this.table}`);
    await this.loadFelt();
    if (this.position !== null) await this.come();
  }

  end(): void {
    this.#visit?.close();
    for (const feed of [`console:${this.table}`, `table:${this.table}`]) this.staff.connection.unfollow(feed).catch(() => undefined);
  }

  /** Joins the table. In a demonstration the virtual supervisor gives way during this visit. */
  async come(): Promise<void> {
    try {
      if (this.staff.isDemonstration && !this.#visit) {
        const token = (await enter(this.staff.role, this.table)).token ?? "";
        this.#visit = new Connection({ token });
        this.requests = new StaffRequests(this.#visit, token, true);
      }
      await this.requests.connection.send({ type: "take-position", table: this.table, position: this.staff.role }, { isSafe: true });
    } catch (error) {
      showError(error);
    }
  }

  async loadFelt(): Promise<void> {
    this.felt = (await this.staff.connection.send<FeltReply>({ type: "felt", table: this.table }, { isSafe: true })).felt;
  }

  async loadRounds(): Promise<void> {
    this.rounds = (await this.staff.connection.send<RoundsReply>({ type: "rounds", table: this.table, most: 10 }, { isSafe: true })).rounds;
  }

  /** A round with its bets. */
  async roundOf(round: number): Promise<RoundView | undefined> {
    return (await this.staff.connection.send<RoundsReply>({ type: "rounds", table: this.table, round }, { isSafe: true })).rounds[0];
  }

  /** What the server offers of these commands. */
  offers(...commands: readonly string[]): readonly Offer[] {
    return once(this.console?.offers.filter((offer) => commands.includes(offer.command)) ?? []);
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
      offers: { ...this.console?.odds },
      ...(Number.isNaN(day) ? {} : { day: new Date(day).toISOString().slice(0, 10) }),
    };
  }
}
