// The state of a Game Console: the views of its table, and the requests that it sends.
import { needsSecondPerson, SecondPersonRequests, sendApproved } from "../shared/secondPerson.svelte";
import type { Staff } from "../shared/StaffSession.svelte";
import type { RequestBody, Connection } from "../connection/connection.svelte";
import { http } from "../connection/http";
import type {
  AnyCommand, BetLine, Blank, ConsoleView, DemoResponse, FeltView, Offer, PreviewView, TableView, FeltReply, PreviewReply, RoundsReply, RoundView, Words,
} from "../connection/messages";
import { localized, t } from "../i18n/index.svelte";

export type Fields = Record<string, unknown>;

export class Desk {
  readonly connection: Connection;
  readonly table: string;
  /** The position that this person takes. */
  readonly role: string;
  readonly isDemonstration: boolean;
  readonly #staff: Staff;
  /** The layout, for the names of its areas. */
  felt = $state.raw<FeltView | null>(null);
  readonly second: SecondPersonRequests;
  /** Whether the virtual dealer deals; null if there is none. */
  isVirtual = $state<boolean | null>(null);
  /** How many requests have no reply yet. */
  busy = $state(0);

  constructor(staff: Staff, table: string) {
    this.#staff = staff;
    this.connection = staff.connection;
    this.table = table;
    this.role = staff.role;
    this.isDemonstration = staff.isDemonstration;
    this.second = new SecondPersonRequests(staff.connection, staff.token, staff.isDemonstration);
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

  /** Whether this person is at the table in their position. */
  get isHere(): boolean {
    return (this.desk?.people ?? []).some((one) => one.name === this.person && one.position === this.role);
  }

  /** The next step, if there is one. */
  get main(): Offer | undefined {
    return this.desk?.offers.find((offer) => offer.main);
  }

  /** Whether this person may do something in their present position. */
  isMine(by: readonly string[]): boolean {
    return this.isHere && by.includes(this.role);
  }

  // Arriving

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
    const told = await http<DemoResponse>("GET", "/api/demo");
    this.isVirtual = told.tables.find((one) => one.table === this.table)?.dealing ?? null;
  }

  async letVirtualDeal(dealing: boolean): Promise<void> {
    await this.connection.send({ type: "virtual-dealer", table: this.table, dealing } as RequestBody);
    this.isVirtual = dealing;
    if (!dealing && !this.isHere) await this.takePosition();
  }

  // Reading

  async preview(faces: readonly number[]): Promise<PreviewView> {
    const request = { type: "preview", table: this.table, faces } as unknown as RequestBody;
    return (await this.connection.send<PreviewReply>(request, { isSafe: true })).preview;
  }

  /** A round with its bets. */
  async roundOf(round: number): Promise<RoundView | undefined> {
    const told = await this.connection.send<RoundsReply>({ type: "rounds", table: this.table, round } as RequestBody, { isSafe: true });
    return told.rounds[0];
  }

  /** The bets on the layout now. */
  async bets(): Promise<BetLine[]> {
    const round = this.view?.round.number;
    const shown = round ? await this.roundOf(round) : undefined;
    return (shown?.bets ?? []).filter((bet) => bet.state === "open");
  }

  // Acting

  /** Does what is offered; false if the second person did not approve. */
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

  async #withSecond(request: RequestBody, what: string): Promise<boolean> {
    const approval = await this.second.ask(request, t("console.secondWhat", what));
    if (approval === null) return false;
    await this.#counted(() => sendApproved(this.connection, request, approval));
    return true;
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
