// A player's seat: its bets, pending bets, and the requests that a player can make. A bet is pending until the server
// replies, even if the connection is lost meanwhile.
import { sound } from "../theme/sound";
import { attempt, errorText, showMessage, showError } from "../shared/toast.svelte";
import { Unanswered } from "../connection/http";
import type { RequestBody, Connection } from "../connection/connection.svelte";
import type {
  AnyCommand, AnyView, Favourite, FeltArea, FeltView, RoundView, SeatView, Slip, TableView, DoneReply, FavouritesReply,
  FeltReply, RoundsReply, TicketsReply, TicketLine,
} from "../connection/messages";
import { t } from "../i18n/index.svelte";

const REFUSED_SHOWN = 4_000;
const MOST_BUYS = 3;
const RETOLD_ANEW = new Set(["round-concluded", "round-voided", "round-resettled"]);
const FELT_CHANGES = new Set(["limits-set", "odds-offered", "table-opened", "day-begun", "layout-shown"]);

/** A command of the seat, which is filled in here. */
type OfSeat = AnyCommand extends infer C ? (C extends { seat: string } ? Omit<C, "seat"> : never) : never;

/** What became of chips on an area: they lie there, or are gone and only shown to go. */
export type Lying = "registered" | "won" | "lost" | "void";

export interface Unsettled extends Slip {
  isColour: boolean;
  state: "pending" | "refused";
  why: string;
}

const isGone = (lying: Lying): boolean => lying === "lost" || lying === "void";

function summed(bets: readonly { area: string; stake: number }[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { area, stake } of bets) sums.set(area, (sums.get(area) ?? 0) + stake);
  return sums;
}

export class Seat {
  felt = $state.raw<FeltView | null>(null);
  chip = $state(0);
  /** Whether the chip in hand is the seat's own colour, where it bought one. */
  isColour = $state(false);
  /** Bets that the server has not answered for, or has just refused. */
  unsettled = $state.raw<readonly Unsettled[]>([]);
  rounds = $state.raw<readonly RoundView[] | null>(null);
  favourites = $state.raw<readonly Favourite[]>([]);
  /** The tickets of this session that are still good, the latest first. */
  tickets = $state.raw<readonly TicketLine[]>([]);
  /** Whether a ticket was requested and the server has not replied. */
  isTicketing = $state(false);
  /** What the House is called, as it stands on a ticket. */
  house = $state("");
  /** The bets of a round that was paid or is void, until the next opens: so that one sees what they came to. */
  #past = $state.raw<{ round: number; bets: readonly Slip[]; inColour: readonly string[] } | null>(null);

  readonly connection: Connection;
  readonly tableName: string;
  readonly name: string;
  readonly table: TableView = $derived.by(() => this.connection.views.get(`table:${this.tableName}`) as TableView);
  readonly mine: SeatView = $derived.by(() => this.connection.views.get(`seat:${this.tableName}/${this.name}`) as SeatView);
  readonly isReady: boolean = $derived.by(() => Boolean(this.felt && this.table && this.mine));
  readonly currency: string = $derived.by(() => this.table.table.currency);
  readonly lit: ReadonlySet<string> = $derived.by(() => new Set(this.felt ? (this.table.lit[this.felt.layout] ?? []) : []));
  /** The bets on the layout: those in hand, or those of the round that has just been paid or is void. */
  readonly laid: readonly Slip[] = $derived.by(() => {
    const { round } = this.table;
    if (this.mine.bets.length || round.bets_open) return this.mine.bets;
    const isShown = round.void !== null || round.phase !== "between";
    return isShown && this.#past?.round === round.number ? this.#past.bets : [];
  });
  /** The chips on each area, including pending ones. */
  readonly stakes: ReadonlyMap<string, number> = $derived.by(() => summed([
    ...this.laid.filter((bet) => !isGone(this.#lying(bet.area))), ...this.unsettled.filter((one) => one.state === "pending"),
  ]));
  /** What lay on each area, and was collected or went back. */
  readonly gone: ReadonlyMap<string, number> = $derived.by(() => summed(this.laid.filter((bet) => isGone(this.#lying(bet.area)))));
  readonly states: ReadonlyMap<string, Lying | Unsettled["state"]> = $derived.by(() => {
    const states = new Map<string, Lying | Unsettled["state"]>(this.laid.map((bet) => [bet.area, this.#lying(bet.area)]));
    for (const { area, state } of this.unsettled) if (state === "pending" || !states.has(area)) states.set(area, state);
    return states;
  });
  /** What was just refused on an area, beside whatever stands there. */
  readonly refusals: ReadonlyMap<string, Unsettled> = $derived.by(
    () => new Map(this.unsettled.filter((one) => one.state === "refused").map((one) => [one.area, one])),
  );

  /** What play money can be bought at a time: as much as one of the greatest chips. */
  readonly buys: readonly number[] = $derived.by(() => this.felt?.denominations.slice(-MOST_BUYS) ?? []);
  /** Whether the player has nothing to bet with, and nothing at stake. */
  readonly isBroke: boolean = $derived.by(() => this.mine.taken && this.mine.credits + this.mine.at_risk + this.mine.payable === 0);
  /** The areas on which chips of the seat's own colour lie. */
  readonly coloured: ReadonlySet<string> = $derived.by(() => {
    const ids = new Set([...(this.mine.in_colour ?? []), ...(this.#past?.inColour ?? [])]);
    return new Set([...this.laid.filter((bet) => ids.has(bet.id)), ...this.unsettled.filter((one) => one.isColour)].map((one) => one.area));
  });

  constructor(connection: Connection, table: string, name: string) {
    this.connection = connection;
    this.tableName = table;
    this.name = name;
  }

  async begin(): Promise<void> {
    await this.connection.follow(`table:${this.tableName}`, (what) => this.#heardTable(what));
    await this.connection.follow(`seat:${this.tableName}/${this.name}`, (_what, view, before) => this.#heardSeat(view, before));
    if (!this.mine.taken) await attempt(() => this.sit());
    await this.#loadFelt();
    await attempt(() => this.loadFavourites());
    await attempt(() => this.loadTickets());
  }

  /** The results of the bets on an area, from the server, so that a reloaded page has them too. */
  #lying(area: string): Lying {
    const { round } = this.table;
    if (round.bets_open) return "registered";
    if (round.void !== null) return "void";
    if (this.lit.has(area)) return round.paid ? "won" : "registered";
    return round.collected ? "lost" : "registered";
  }

  #heardTable(what: readonly string[]): void {
    if (what.some((one) => FELT_CHANGES.has(one))) void attempt(() => this.#loadFelt());
    if (what.includes("bets-closed")) sound("closed");
    if (what.some((one) => RETOLD_ANEW.has(one)) && this.rounds) void attempt(() => this.loadRounds());
  }

  #heardSeat(view: AnyView, before: AnyView | undefined): void {
    const [now, was] = [view as SeatView, before as SeatView | undefined];
    if (was && (was.session !== now.session || was.taken !== now.taken)) { this.#forget(); return; }
    if (was?.bets.length && !now.bets.length) this.#past = { round: now.last?.number ?? 0, bets: was.bets, inColour: was.in_colour ?? [] };
    if (was && now.last && now.last.number !== was.last?.number && now.last.returned > now.last.staked) sound("won");
    if (was && this.felt && now.layout && now.layout !== this.felt.layout) void attempt(() => this.#loadFelt());
  }

  /** The seat is free or has another player: the data of the last player is removed. */
  #forget(): void {
    this.#past = null;
    this.unsettled = this.tickets = this.favourites = [];
    const wasLookingBack = this.rounds !== null;
    this.rounds = null;
    if (!this.mine.taken) return;
    void attempt(() => this.loadFavourites());
    void attempt(() => this.loadTickets());
    if (wasLookingBack) void attempt(() => this.loadRounds());
  }

  async #loadFelt(): Promise<void> {
    const layout = this.mine.layout || this.table.table.layout;
    this.felt = (await this.connection.send<FeltReply>({ type: "felt", table: this.tableName, layout }, { isSafe: true })).felt;
    if (!this.felt.denominations.includes(this.chip)) this.chip = this.felt.denominations[0] ?? 0;
  }

  // Bets

  /** Lays the chip in hand; a piece of the seat's own colour is worth what it was bought at. */
  place(area: FeltArea, stake: number = this.chip, isColour: boolean = this.isColour): void {
    const colour = isColour ? this.mine.colour : null;
    void this.#lay([{ area: area.id, stake: colour ? colour.value : stake }], Boolean(colour));
  }

  /** Several bets at once: all of them, or none. */
  async #lay(wanted: readonly { area: string; stake: number }[], isColour = false): Promise<void> {
    const bets = wanted.map(({ area, stake }) => ({ id: this.connection.newId(), area, stake }));
    const ids = new Set(bets.map((bet) => bet.id));
    const others = () => this.unsettled.filter((one) => !ids.has(one.id));
    this.unsettled = [...this.unsettled, ...bets.map((bet) => ({ ...bet, isColour, state: "pending" as const, why: "" }))];
    sound("chip");
    try {
      await this.do({ command: "place-bets", round: this.table.round.number, bets, ...(isColour ? { means: "colour-chips" as const } : {}) }, true);
      this.unsettled = others();
    } catch (error) {
      if (error instanceof Unanswered) { this.unsettled = others(); showError(error); return; }
      const why = errorText(error).text;
      this.unsettled = [...others(), ...bets.map((bet) => ({ ...bet, isColour, state: "refused" as const, why }))];
      showError(error);
      setTimeout(() => { this.unsettled = others(); }, REFUSED_SHOWN);
    }
  }

  do(command: OfSeat, isSafe = false): Promise<unknown> {
    return this.connection.do(this.tableName, { ...command, seat: this.name } as AnyCommand, { isSafe });
  }

  ask(type: "undo" | "clear" | "double" | "repeat"): void {
    void attempt(() => this.connection.send({ type, table: this.tableName, seat: this.name } as RequestBody));
  }

  // The seat itself, credits and tickets

  async sit(): Promise<void> {
    const player = t("terminal.guest", this.name);
    await this.do({ command: "take-seat", player, terminal: this.connection.welcome?.name ?? "" });
  }

  buy(amount: number): void {
    void attempt(() => this.do({ command: "buy-credits", amount }));
  }

  showLayout(layout: string): void {
    void attempt(() => this.do({ command: "show-layout", layout }));
  }

  /**
   * Turns all credits into a ticket. A lost connection loses nothing: the request is sent again with the same id, and
   * the ticket list shows it.
   */
  async ticketOut(): Promise<void> {
    this.isTicketing = true;
    await attempt(() => this.connection.send<DoneReply>({ type: "ticket-out", table: this.tableName, seat: this.name }, { isSafe: true }));
    this.isTicketing = false;
    await attempt(() => this.loadTickets());
  }

  async ticketIn(ticket: string): Promise<boolean> {
    const request = { type: "ticket-in", table: this.tableName, seat: this.name, ticket } as const;
    const done = await attempt(() => this.connection.send(request, { isSafe: true }));
    await attempt(() => this.loadTickets());
    return done !== undefined;
  }

  async loadTickets(): Promise<void> {
    const { session } = this.mine;
    const told = await this.connection.send<TicketsReply>({ type: "tickets", table: this.tableName, seat: this.name }, { isSafe: true });
    if (session !== this.mine.session) return; // a reply for the player who sat here before
    [this.house, this.tickets] = [told.house, told.tickets];
  }

  withdraw(isWithdrawing: boolean): void {
    void attempt(() => this.do({ command: "choose-withdrawal", withdraw: isWithdrawing }));
  }

  // Favourites: sets of bets under a name

  async loadFavourites(): Promise<void> {
    const told = await this.connection.send<FavouritesReply>({ type: "favourites", table: this.tableName, seat: this.name });
    this.favourites = told.favourites;
  }

  async keepFavourite(name: string, bets: readonly { area: string; stake: number }[]): Promise<void> {
    const kept = bets.map(({ area, stake }) => ({ area, stake }));
    await attempt(() => this.connection.send({ type: "keep-favourite", table: this.tableName, seat: this.name, name, bets: kept } as RequestBody));
    await attempt(() => this.loadFavourites());
  }

  layFavourite(favourite: Favourite): void {
    void this.#lay(favourite.bets);
  }

  // Past rounds, and calling an attendant

  async loadRounds(): Promise<void> {
    const told = await this.connection.send<RoundsReply>({ type: "rounds", table: this.tableName, seat: this.name, most: 10 });
    this.rounds = told.rounds.filter((round) => round.bets.length > 0);
  }

  async call(round: number | null = null): Promise<void> {
    const about = round === null ? { subject: "call" as const } : { subject: "dispute" as const, round };
    const done = await attempt(() => this.do({ command: "call-attendant", ...about }));
    if (done !== undefined) showMessage(t(round === null ? "terminal.called" : "terminal.disputed"));
  }
}
