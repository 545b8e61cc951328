// The layout of a live table as staff record it, seat by seat. A tap is pending until the server replies, even if the
// connection is lost meanwhile.
import { sound } from "../theme/sound";
import { attempt, errorText, showMessage } from "../shared/toast.svelte";
import { StaffRequests } from "../pit/staffRequests.svelte";
import type { Staff } from "../pit/staff";
import { Refused } from "../connection/http";
import type {
  AnyCommand, ConsoleView, FeltArea, FeltView, IrregularityLine, Means, ColourLine, Offer, RoundsReply, RoundView, SeatLine, SeatView, Slip, TableView, FeltReply,
} from "../connection/messages";
import { localized, t } from "../i18n/index.svelte";
import { seatsOf, sumsOf, type Tap } from "./taps";

const MOST_FOLLOWED = 40; // seats whose bets are followed: a socket may follow 64 feeds
const MOST_TAPS = 30;
const REFUSED_SHOWN = 4_000;
const FELT_CHANGES = new Set(["limits-set", "odds-offered", "table-opened", "day-begun"]);

export class Layout {
  readonly staff: Staff;
  readonly table: string;
  readonly requests: StaffRequests;
  felt = $state.raw<FeltView | null>(null);
  seat = $state("1");
  means = $state<Means>("cash-chips");
  chip = $state(0);
  /** Colour chips that one tap lays. */
  pieces = $state(1);
  /** Whether staff place the chips at the player's request. */
  isAtRequest = $state(false);
  /** The latest first. */
  taps = $state.raw<readonly Tap[]>([]);
  /** A bet that is about to be said to lie elsewhere. */
  moving = $state.raw<Slip | null>(null);
  readonly #watched = new Set<string>();

  readonly view: TableView | undefined = $derived.by(() => this.staff.connection.views.get(`table:${this.table}`) as TableView | undefined);
  readonly console: ConsoleView | undefined = $derived.by(() => this.staff.connection.views.get(`console:${this.table}`) as ConsoleView | undefined);
  readonly currency: string = $derived.by(() => this.view?.table.currency ?? "");
  readonly isHere: boolean = $derived.by(() => this.console?.people.some((one) => one.name === this.staff.person) ?? false);
  /** Colour → what it is called and how it is drawn. */
  readonly colours: ReadonlyMap<string, ColourLine> = $derived.by(() => new Map(this.console?.seats.colours.map((one) => [one.colour, one])));
  readonly lines: ReadonlyMap<string, SeatLine> = $derived.by(() => new Map(this.console?.seats.shown.map((line) => [line.seat, line])));
  readonly line: SeatLine | undefined = $derived.by(() => this.lines.get(this.seat));
  readonly seats: readonly string[] = $derived.by(() => seatsOf([...this.lines.keys()]));
  /** What bets are made with here: chips, not a terminal's credits. */
  readonly kinds: readonly Means[] = $derived.by(() => (this.view?.table.means ?? []).filter((one) => one !== "credits") as Means[]);
  readonly mine: readonly Slip[] = $derived.by(() => this.#bets(this.seat));
  readonly stakes: ReadonlyMap<string, number> = $derived.by(() => {
    const known = new Set(this.mine.map((bet) => bet.id));
    return sumsOf([...this.mine, ...this.taps.filter((tap) => tap.seat === this.seat && tap.state === "pending" && !known.has(tap.id))]);
  });
  readonly all: ReadonlyMap<string, number> = $derived.by(() => sumsOf(this.seats.flatMap((seat) => this.#bets(seat))));
  /** Area → how its latest tap of the chosen seat stands. */
  readonly states: ReadonlyMap<string, string> = $derived.by(() => {
    const states = new Map<string, string>(this.mine.map((bet) => [bet.area, "registered"]));
    for (const tap of this.taps) if (tap.seat === this.seat && (tap.state === "pending" || tap.isFresh)) states.set(tap.area, tap.state);
    return states;
  });
  readonly lit: ReadonlySet<string> = $derived.by(() => new Set(this.felt ? (this.view?.lit[this.felt.layout] ?? []) : []));
  /** What the rules order of a bet that comes too late. */
  readonly late: IrregularityLine | undefined = $derived.by(() => this.console?.irregularities.find((one) => one.id === "late-bet"));

  /** Corrections of the record that the server offers: in the round in hand, and in earlier ones. */
  readonly corrections: readonly Offer[] = $derived.by(() => this.console?.offers.filter((offer) => offer.command === "correct-record") ?? []);

  constructor(staff: Staff, table: string) {
    this.staff = staff;
    this.table = table;
    this.requests = new StaffRequests(staff.connection, staff.token, staff.isDemonstration);
  }

  async begin(): Promise<void> {
    const { connection } = this.staff;
    await connection.follow(`table:${this.table}`, (what) => this.#heard(what));
    await connection.follow(`console:${this.table}`, (_what, view) => this.#watch(view as ConsoleView));
    this.seat = this.seats.find((seat) => this.lines.get(seat)?.terminal === null) ?? this.seats.find((seat) => !this.lines.has(seat)) ?? "1";
    this.means = this.kinds.includes("cash-chips") ? "cash-chips" : (this.kinds[0] ?? "cash-chips");
    await this.#loadFelt();
    // An arriving Dealer relieves the present one, so they must take the position themselves.
    if (!this.isHere && this.staff.role !== "dealer") await this.come();
  }

  async come(): Promise<void> {
    await attempt(() => this.staff.connection.send({ type: "take-position", table: this.table, position: this.staff.role }, { isSafe: true }));
  }

  #heard(what: readonly string[]): void {
    if (what.some((one) => FELT_CHANGES.has(one))) void attempt(() => this.#loadFelt());
    if (what.includes("bets-opened")) { this.taps = []; this.moving = null; }
    if (what.includes("bets-closed")) sound("closed");
  }

  #watch(view: ConsoleView): void {
    for (const { seat } of view.seats.shown.slice(0, MOST_FOLLOWED)) {
      if (this.#watched.has(seat)) continue;
      this.#watched.add(seat);
      this.staff.connection.follow(`seat:${this.table}/${seat}`).catch(() => this.#watched.delete(seat));
    }
  }

  #bets(seat: string): readonly Slip[] {
    return (this.staff.connection.views.get(`seat:${this.table}/${seat}`) as SeatView | undefined)?.bets ?? [];
  }

  /** The bets that lie on an area, of whichever seat. */
  lyingOn(area: string): readonly { seat: string; bet: Slip }[] {
    return this.seats.flatMap((seat) => this.#bets(seat).filter((bet) => bet.area === area).map((bet) => ({ seat, bet })));
  }

  async #loadFelt(): Promise<void> {
    this.felt = (await this.staff.connection.send<FeltReply>({ type: "felt", table: this.table }, { isSafe: true })).felt;
    if (!this.felt.denominations.includes(this.chip)) this.chip = this.felt.denominations[0] ?? 0;
  }

  choose(seat: string): void {
    this.seat = seat;
    this.moving = null;
    if (this.means === "colour-chips" && !this.line?.colour) this.means = this.kinds.find((one) => one !== "colour-chips") ?? "cash-chips";
  }

  /** Another chip than the one in hand: the next, or the one before. */
  step(by: number): void {
    const chips = this.felt?.denominations ?? [];
    this.chip = chips[Math.min(chips.length - 1, Math.max(0, chips.indexOf(this.chip) + by))] ?? this.chip;
  }

  // Bets

  /** A chip on an area, at once; or the bet that is being moved. */
  tap(area: FeltArea): void {
    if (this.moving) void this.#move(this.moving, area);
    else if (this.line) void this.#record(area, this.line);
    else showMessage(t("recorder.takeFirst", this.seat));
  }

  async #record(area: FeltArea, line: SeatLine): Promise<void> {
    const inPieces = this.means === "colour-chips";
    const bet = { id: this.staff.connection.newId(), area: area.id, stake: inPieces ? this.pieces : this.chip };
    const stake = inPieces ? this.pieces * line.colour_value : this.chip;
    const tap: Tap = { ...bet, stake, seat: line.seat, label: area.label, state: "pending", why: "", clause: null, isLate: false, isFresh: true };
    this.taps = [tap, ...this.taps].slice(0, MOST_TAPS);
    sound("chip");
    const command = {
      command: "record-bets", round: this.view?.round.number ?? 0, seat: line.seat, means: this.means, bets: [bet],
      ...(this.isAtRequest ? { at_request: true } : {}),
    } as AnyCommand;
    try {
      await this.staff.connection.do(this.table, command, { isSafe: true });
      this.#note(tap.id, { state: "registered", isFresh: false });
    } catch (error) {
      sound("refused");
      const { text, clause } = errorText(error);
      this.#note(tap.id, { state: "refused", why: text, clause, isLate: error instanceof Refused && error.reason === "late" });
      setTimeout(() => this.#note(tap.id, { isFresh: false }), REFUSED_SHOWN);
    }
  }

  #note(id: string, what: Partial<Tap>): void {
    this.taps = this.taps.map((tap) => (tap.id === id ? { ...tap, ...what } : tap));
  }

  /** The last bet that was recorded here goes back. */
  get undoable(): Tap | undefined {
    return this.taps.find((tap) => tap.state === "registered");
  }

  undo(): void {
    const tap = this.undoable;
    if (tap) void this.takeBack(tap.seat, tap.id);
  }

  async takeBack(seat: string, id: string): Promise<void> {
    const command = { command: "take-back" as const, round: this.view?.round.number ?? 0, seat, ids: [id] };
    const done = await attempt(() => this.staff.connection.do(this.table, command, { isSafe: true }));
    if (done) this.#note(id, { state: "back" });
  }

  async #move(bet: Slip, area: FeltArea): Promise<void> {
    this.moving = null;
    const command = { command: "move-bet" as const, round: this.view?.round.number ?? 0, id: bet.id, area: area.id };
    const done = await attempt(() => this.requests.do(this.table, command, t("recorder.moveWhat", this.labelOf(bet.area), this.labelOf(area.id))));
    if (done) this.#note(bet.id, { area: area.id, label: area.label });
  }

  /** Whether this person may do something in their present position. */
  isMine(offer: Offer): boolean {
    const here = this.console?.people.find((one) => one.name === this.staff.person);
    return here !== undefined && offer.by.includes(here.position);
  }

  /** A round with its bets. */
  async roundOf(round: number): Promise<RoundView | undefined> {
    return (await this.staff.connection.send<RoundsReply>({ type: "rounds", table: this.table, round }, { isSafe: true })).rounds[0];
  }

  labelOf(area: string): string {
    const { label } = this.felt?.areas.find((one) => one.id === area) ?? {};
    return label ? localized(label) : area;
  }

  // Seats and colour chips

  async do(command: AnyCommand): Promise<boolean> {
    return (await attempt(() => this.staff.connection.do(this.table, command))) !== undefined;
  }
}
