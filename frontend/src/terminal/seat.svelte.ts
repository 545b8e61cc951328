// A player's seat: what lies where, what is on its way, and what he may ask for. A bet is pending until the floor has
// answered for it, however often the connection is cut in between.
import { sound } from "../look/sound";
import { attempt, tell, tellError } from "../parts/toast.svelte";
import { Refused, Unanswered } from "../wire/http";
import type { Asked, Floor } from "../wire/floor.svelte";
import type {
  AnyCommand, AnyView, Favourite, FeltArea, FeltView, RoundView, SeatView, Slip, TableView, TellDone, TellFavourites,
  TellFelt, TellRounds,
} from "../wire/messages";
import { say } from "../words/index.svelte";

const REFUSED_SHOWN = 4_000;
const FELT_CHANGES = new Set(["limits-set", "odds-offered", "table-opened", "day-begun", "layout-shown"]);

/** A command of the seat, which is filled in here. */
type OfSeat = AnyCommand extends infer C ? (C extends { seat: string } ? Omit<C, "seat"> : never) : never;

export interface Unsettled extends Slip {
  state: "pending" | "refused";
  why: string;
}

export class Seat {
  felt = $state.raw<FeltView | null>(null);
  chip = $state(0);
  /** Bets that the floor has not answered for, or has just refused. */
  unsettled = $state.raw<readonly Unsettled[]>([]);
  rounds = $state.raw<readonly RoundView[] | null>(null);
  favourites = $state.raw<readonly Favourite[]>([]);
  ticket = $state.raw<TellDone | null>(null);
  isSwept = $state(false);
  isPaid = $state(false);
  /** The bets of a round that is over, until the next opens: so that one sees what they came to. */
  #past = $state.raw<{ round: number; bets: readonly Slip[] } | null>(null);

  readonly floor: Floor;
  readonly tableName: string;
  readonly name: string;
  readonly table: TableView = $derived.by(() => this.floor.views.get(`table:${this.tableName}`) as TableView);
  readonly mine: SeatView = $derived.by(() => this.floor.views.get(`seat:${this.tableName}/${this.name}`) as SeatView);
  readonly isReady: boolean = $derived.by(() => Boolean(this.felt && this.table && this.mine));
  readonly currency: string = $derived.by(() => this.table.table.currency);
  readonly lit: ReadonlySet<string> = $derived.by(() => new Set(this.felt ? (this.table.lit[this.felt.layout] ?? []) : []));
  /** What lies on the layout: the bets in hand, or those of the round that has just ended. */
  readonly laid: readonly Slip[] = $derived.by(() => {
    if (this.mine.bets.length || this.table.round.bets_open) return this.mine.bets;
    return this.#past?.round === this.table.round.number ? this.#past.bets : [];
  });
  readonly stakes: ReadonlyMap<string, number> = $derived.by(() => {
    const sums = new Map<string, number>();
    for (const { area, stake } of [...this.laid, ...this.unsettled.filter((one) => one.state === "pending")]) {
      sums.set(area, (sums.get(area) ?? 0) + stake);
    }
    return sums;
  });
  readonly states: ReadonlyMap<string, string> = $derived.by(() => {
    const states = new Map<string, string>(this.laid.map((bet) => [bet.area, "registered"]));
    for (const bet of this.unsettled) states.set(bet.area, bet.state);
    return states;
  });

  constructor(floor: Floor, table: string, name: string) {
    this.floor = floor;
    this.tableName = table;
    this.name = name;
  }

  async begin(): Promise<void> {
    await this.floor.follow(`table:${this.tableName}`, (what) => this.#heardTable(what));
    await this.floor.follow(`seat:${this.tableName}/${this.name}`, (_what, view, before) => this.#heardSeat(view, before));
    if (!this.mine.taken) await attempt(() => this.sit());
    await this.#lookAtFelt();
    await attempt(() => this.lookAtFavourites());
  }

  #heardTable(what: readonly string[]): void {
    if (what.some((one) => FELT_CHANGES.has(one))) void attempt(() => this.#lookAtFelt());
    if (what.includes("bets-opened")) { this.isSwept = this.isPaid = false; this.#past = null; }
    if (what.includes("bets-closed")) sound("closed");
    if (what.includes("losers-collected")) this.isSwept = true;
    if (what.includes("winners-paid")) this.isPaid = true;
    if (what.includes("round-concluded") && this.rounds) void attempt(() => this.lookBack());
  }

  #heardSeat(view: AnyView, before: AnyView | undefined): void {
    const [now, was] = [view as SeatView, before as SeatView | undefined];
    if (was?.bets.length && !now.bets.length && !this.table?.round.bets_open) {
      this.#past = { round: this.table.round.number, bets: was.bets };
    }
    if (now.last && now.last.number !== was?.last?.number && now.last.returned > now.last.staked) sound("won");
    if (was && this.felt && now.layout && now.layout !== this.felt.layout) void attempt(() => this.#lookAtFelt());
  }

  async #lookAtFelt(): Promise<void> {
    const layout = this.mine.layout || this.table.table.layout;
    this.felt = (await this.floor.send<TellFelt>({ ask: "felt", table: this.tableName, layout }, { isSafe: true })).felt;
    if (!this.felt.denominations.includes(this.chip)) this.chip = this.felt.denominations[0] ?? 0;
  }

  // Bets

  place(area: FeltArea, stake: number = this.chip): void {
    void this.#lay([{ area: area.id, stake }]);
  }

  /** Several bets at once: all of them, or none. */
  async #lay(wanted: readonly { area: string; stake: number }[]): Promise<void> {
    const bets = wanted.map(({ area, stake }) => ({ id: this.floor.newId(), area, stake }));
    const ids = new Set(bets.map((bet) => bet.id));
    const others = () => this.unsettled.filter((one) => !ids.has(one.id));
    this.unsettled = [...this.unsettled, ...bets.map((bet) => ({ ...bet, state: "pending" as const, why: "" }))];
    sound("chip");
    try {
      await this.do({ command: "place-bets", round: this.table.round.number, bets }, true);
      this.unsettled = others();
    } catch (error) {
      if (error instanceof Unanswered) { this.unsettled = others(); tellError(error); return; }
      const why = error instanceof Refused ? error.message : String(error);
      this.unsettled = [...others(), ...bets.map((bet) => ({ ...bet, state: "refused" as const, why }))];
      tellError(error);
      setTimeout(() => { this.unsettled = others(); }, REFUSED_SHOWN);
    }
  }

  do(command: OfSeat, isSafe = false): Promise<unknown> {
    return this.floor.do(this.tableName, { ...command, seat: this.name } as AnyCommand, { isSafe });
  }

  ask(ask: "undo" | "clear" | "double" | "repeat"): void {
    void attempt(() => this.floor.send({ ask, table: this.tableName, seat: this.name } as Asked));
  }

  // The seat itself, credits and tickets

  async sit(): Promise<void> {
    const player = say("terminal.guest", this.name);
    await this.do({ command: "take-seat", player, terminal: this.floor.welcome?.name ?? "" });
  }

  buy(amount: number): void {
    void attempt(() => this.do({ command: "buy-credits", amount }));
  }

  showLayout(layout: string): void {
    void attempt(() => this.do({ command: "show-layout", layout }));
  }

  async ticketOut(): Promise<void> {
    const done = await attempt(() => this.floor.send<TellDone>({ ask: "ticket-out", table: this.tableName, seat: this.name }));
    if (done?.ticket) this.ticket = done;
  }

  async ticketIn(ticket: string): Promise<boolean> {
    const done = await attempt(() => this.floor.send({ ask: "ticket-in", table: this.tableName, seat: this.name, ticket }));
    return done !== undefined;
  }

  withdraw(isWithdrawing: boolean): void {
    void attempt(() => this.do({ command: "choose-withdrawal", withdraw: isWithdrawing }));
  }

  // Favourites: sets of bets under a name

  async lookAtFavourites(): Promise<void> {
    const told = await this.floor.send<TellFavourites>({ ask: "favourites", table: this.tableName, seat: this.name });
    this.favourites = told.favourites;
  }

  async keepFavourite(name: string, bets: readonly { area: string; stake: number }[]): Promise<void> {
    const kept = bets.map(({ area, stake }) => ({ area, stake }));
    await attempt(() => this.floor.send({ ask: "keep-favourite", table: this.tableName, seat: this.name, name, bets: kept } as Asked));
    await attempt(() => this.lookAtFavourites());
  }

  layFavourite(favourite: Favourite): void {
    void this.#lay(favourite.bets);
  }

  // Looking back, and asking for someone

  async lookBack(): Promise<void> {
    const told = await this.floor.send<TellRounds>({ ask: "rounds", table: this.tableName, seat: this.name, most: 10 });
    this.rounds = told.rounds.filter((round) => round.bets.length > 0);
  }

  async call(round: number | null = null): Promise<void> {
    const about = round === null ? { subject: "call" as const } : { subject: "dispute" as const, round };
    const done = await attempt(() => this.do({ command: "call-attendant", ...about }));
    if (done !== undefined) tell(say(round === null ? "terminal.called" : "terminal.disputed"));
  }
}
