// The desk of a Game Console: what the server tells of its table, and how things are done there.
import { approved, needsSecondPerson, type Credentials } from "../shared/approval";
import type { Staff } from "../shared/StaffSession.svelte";
import type { RequestBody, Connection } from "../connection/connection.svelte";
import { http } from "../connection/http";
import type {
  AnyCommand, BetLine, Blank, ConsoleView, DemoTold, FeltView, Offer, PreviewView, TableView, FeltReply, PreviewReply, RoundsReply, Words,
} from "../connection/messages";
import { localized, t } from "../i18n/index.svelte";

export type Fields = Record<string, unknown>;

/** Something that waits for a second person. */
export interface Waiting {
  what: string;
  agreed: (proof: Credentials | null) => Promise<void>;
  cancelled: () => void;
}

export class Desk {
  readonly connection: Connection;
  readonly table: string;
  /** The position that is taken here. */
  readonly role: string;
  readonly isDemonstration: boolean;
  readonly #staff: Staff;
  /** The layout, for its areas' names. */
  felt = $state.raw<FeltView | null>(null);
  waiting = $state.raw<Waiting | null>(null);
  /** Whether a virtual dealer deals; null where there is none. */
  isVirtual = $state<boolean | null>(null);
  /** Asks that have not been answered yet. */
  busy = $state(0);

  constructor(staff: Staff, table: string) {
    this.#staff = staff;
    this.connection = staff.connection;
    this.table = table;
    this.role = staff.role;
    this.isDemonstration = staff.isDemonstration;
  }

  get view(): TableView | undefined {
    return this.connection.views.get(`table:${this.table}`) as TableView | undefined;
  }

  get desk(): ConsoleView | undefined {
    return this.connection.views.get(`console:${this.table}`) as ConsoleView | undefined;
  }

  get currency(): string {
    return this.view?.table.currency ?? "";
  }

  get person(): string {
    return this.connection.welcome?.name ?? this.#staff.person;
  }

  /** Whether this person stands at the table in his position. */
  get isHere(): boolean {
    return (this.desk?.people ?? []).some((one) => one.name === this.person && one.position === this.role);
  }

  /** The one next step, if the table has one. */
  get main(): Offer | undefined {
    return this.desk?.acts.find((offer) => offer.main);
  }

  /** Whether whoever is here may do something, standing where he stands. */
  isMine(by: readonly string[]): boolean {
    return this.isHere && by.includes(this.role);
  }

  // Coming

  async start(): Promise<void> {
    await Promise.all([this.connection.follow(`table:${this.table}`), this.connection.follow(`console:${this.table}`)]);
    await this.takePosition();
    await Promise.all([this.#askFelt(), this.loadVirtualDealer()]);
  }

  async takePosition(): Promise<void> {
    await this.connection.send({ type: "take-position", table: this.table, position: this.role } as RequestBody, { isSafe: true });
  }

  async #askFelt(): Promise<void> {
    const told = await this.connection.send<FeltReply>({ type: "felt", table: this.table } as RequestBody, { isSafe: true });
    this.felt = told.felt;
  }

  // Virtual people

  async loadVirtualDealer(): Promise<void> {
    if (!this.isDemonstration) return;
    const told = await http<DemoTold>("GET", "/api/demo");
    this.isVirtual = told.tables.find((one) => one.table === this.table)?.dealing ?? null;
  }

  async letVirtualDeal(dealing: boolean): Promise<void> {
    await this.connection.send({ type: "virtual-dealer", table: this.table, dealing } as RequestBody);
    this.isVirtual = dealing;
    if (!dealing && !this.isHere) await this.takePosition();
  }

  // Looking

  async preview(faces: readonly number[]): Promise<PreviewView> {
    const request = { type: "preview", table: this.table, faces } as unknown as RequestBody;
    return (await this.connection.send<PreviewReply>(request, { isSafe: true })).preview;
  }

  /** The bets that lie on the layout now. */
  async bets(): Promise<BetLine[]> {
    const round = this.view?.round.number;
    if (!round) return [];
    const told = await this.connection.send<RoundsReply>({ type: "rounds", table: this.table, round } as RequestBody, { isSafe: true });
    return (told.rounds[0]?.bets ?? []).filter((bet) => bet.state === "stands");
  }

  // Doing

  /** Does what is offered; false where whoever was to agree did not. */
  async take(offer: Pick<Offer, "command" | "preset" | "blanks" | "label"> & { then?: Words | null }, fields: Fields = {}): Promise<boolean> {
    const what = [localized(offer.label), localized(offer.then)].filter(Boolean).join(" → ");
    return this.command({ command: offer.command, ...offer.preset, ...fields }, offer.blanks, what);
  }

  async command(command: Fields & { command: string }, blanks: readonly Blank[], what: string): Promise<boolean> {
    const request = { type: "do", table: this.table, do: command as unknown as AnyCommand } as RequestBody;
    if (needsSecondPerson(blanks)) return this.#withSecond(request, what);
    await this.#counted(() => this.connection.send(request));
    return true;
  }

  #withSecond(request: RequestBody, what: string): Promise<boolean> {
    return new Promise((done, failed) => {
      const over = () => { this.waiting = null; };
      this.waiting = {
        what: t("console.secondWhat", what),
        // A proof that is wrong can be given again; what the server then says of the request itself is the asker's to hear.
        agreed: async (proof) => {
          const approval = await approved(request, this.#staff.token, proof);
          over();
          this.#counted(() => this.connection.send({ ...request, approval } as RequestBody)).then(() => done(true), failed);
        },
        cancelled: () => { over(); done(false); },
      };
    });
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.busy += 1;
    try {
      return await work();
    } finally {
      this.busy -= 1;
    }
  }
}
