// Made from the server's schemas abcb523337aaacaf by `npm run messages`, never by hand.

export type AnyCommand =
  | Assign
  | BeginDay
  | BeginShift
  | BuyColour
  | BuyCredits
  | CallAttendant
  | CashColour
  | ChooseWithdrawal
  | CloseTable
  | CloseWithdrawal
  | ConfirmReport
  | ContestReport
  | CorrectRecord
  | CountCards
  | DecideReferral
  | Declare
  | DeclareUnrecorded
  | EnterRound
  | EnterSettlement
  | Inspect
  | Leave
  | LeaveSeat
  | LoadShoe
  | MoveBet
  | OfferOdds
  | Perform
  | PlaceBets
  | PlaceItem
  | RecordBets
  | RemoveItem
  | Reopen
  | RepairItem
  | ReportIrregularity
  | SetLimits
  | SettleClaim
  | ShowLayout
  | ShuffleShoe
  | Shut
  | TakeBack
  | TakeSeat
  | AdoptInterpretations
  | BringIn
  | OverrideWitness
  | RedeemTicket
  | TakeOut;
/**
 * What a bet is made with.
 */
export type Means = "cash" | "cash-chips" | "colour-chips" | "credits" | "plaques";
/**
 * What a referral is about, if it is no irregularity of the rulebook.
 */
export type Subject = "call" | "dispute" | "interruption";
/**
 * How the record of the chips is corrected.
 */
export type RecordChange = "add" | "area" | "remove" | "seat" | "split" | "stake";
/**
 * What someone decides on a referral.
 */
export type Treatment =
  "continue" | "re-open" | "settle-by-outcome" | "shut" | "stands" | "treat-bets" | "void" | "void-rounds";
/**
 * What the Dealer and a supervisor declare after an interruption: whether anyone saw a die.
 */
export type Declared = "seen" | "unseen";
/**
 * When an inspection is due.
 */
export type InspectedBefore = "opening" | "shift";
/**
 * An act that moves a round to its next phase.
 */
export type Act =
  | "activate-shaker"
  | "clear-lights"
  | "close-bets"
  | "collect"
  | "collect-and-pay"
  | "conclude"
  | "deal-cards"
  | "enter-result"
  | "open-bets"
  | "pay"
  | "press-deal"
  | "settle"
  | "tumble"
  | "uncover";
/**
 * What can go wrong at a table.
 */
export type Irregularity =
  | "automated-shaker-failure"
  | "card-count-wrong"
  | "chips-unclear"
  | "deal-not-pressed"
  | "dice-over-age"
  | "die-damaged"
  | "die-not-flat"
  | "display-wrong"
  | "dome-or-dice-broken"
  | "earlier-limit-mistake"
  | "equipment-failure"
  | "exposed-early"
  | "exposed-late"
  | "foreign-card"
  | "late-bet"
  | "late-withdrawal"
  | "other"
  | "over-maximum"
  | "power-failure"
  | "shoe-short"
  | "terminals-down"
  | "too-few-tumbles"
  | "two-shakers"
  | "under-minimum"
  | "untumbled-in-view"
  | "wrong-result";
/**
 * How a claim is settled.
 */
export type ClaimEnd = "cage" | "table" | "waive";
export type AnyView =
  TableView | ConsoleView | SeatView | LobbyView | PitView | CageView | ApprovalsView | AlarmsView;
export type AnyChanges =
  | TableChanges
  | ConsoleChanges
  | SeatChanges
  | LobbyChanges
  | PitChanges
  | CageChanges
  | ApprovalsChanges
  | AlarmsChanges;
/**
 * What became of a bet.
 */
export type BetState =
  "kept-out" | "lost" | "open" | "returned" | "taken-back" | "void" | "withdrawn" | "won";
/**
 * What a device is.
 */
export type DeviceKind = "chip-reader" | "display" | "shaker" | "terminal";
export type AnyRequest =
  | HelloRequest
  | FollowRequest
  | UnfollowRequest
  | PingRequest
  | DoRequest
  | OpenTableRequest
  | TakePositionRequest
  | UndoRequest
  | ClearRequest
  | DoubleRequest
  | RepeatRequest
  | KeepFavouriteRequest
  | FavouritesRequest
  | TicketInRequest
  | TicketOutRequest
  | TicketsRequest
  | FeltRequest
  | RoundsRequest
  | PreviewRequest
  | SellTicketRequest
  | FillRequest
  | TakeCreditRequest
  | TakeDropRequest
  | CountDropRequest
  | SettleClaimRequest
  | BooksRequest
  | ReportRequest
  | ReadingRequest
  | VirtualDealerRequest;
export type AnyServerMessage =
  | ChallengeNotice
  | WelcomeReply
  | PongReply
  | DoneReply
  | RefusedReply
  | SnapshotNotice
  | ChangeNotice
  | FollowingReply
  | FavouritesReply
  | TicketsReply
  | FeltReply
  | RoundsReply
  | PreviewReply
  | BooksReply
  | ReportReply
  | EndNotice;
export type SchoolAnswer = SettleAnswer | KeyAnswer | RulingAnswer;
export type ExerciseResponse = SettleExerciseResponse | KeyExerciseResponse | RulingExerciseResponse;
export type JudgedResponse = SettleJudgedResponse | KeyJudgedResponse | RulingJudgedResponse;

/**
 * The first request on a connection: the protocol's version, and who the client is.
 *
 *     A visitor gives neither token nor device.
 */
export interface HelloRequest {
  type: "hello";
  id: string;
  protocol: number;
  token?: string | null;
  device?: string | null;
  signature?: string | null;
}
/**
 * Follows a feed. With `epoch` and `after` it continues where the client was, if the server still can.
 */
export interface FollowRequest {
  type: "follow";
  id: string;
  feed: string;
  epoch?: string | null;
  after?: number | null;
}
/**
 * Stops following a feed.
 */
export interface UnfollowRequest {
  type: "unfollow";
  id: string;
  feed: string;
}
/**
 * Asks whether the server is there. It does not keep a session from expiring.
 */
export interface PingRequest {
  type: "ping";
  id: string;
}
/**
 * Carries out a command at a table, or at the House if no table is given.
 */
export interface DoRequest {
  type: "do";
  id: string;
  do: AnyCommand;
  table?: string | null;
  approval?: string | null;
}
/**
 * A person is assigned to a position at the table and acts in it; a Dealer relieves the one before.
 */
export interface Assign {
  command: "assign";
  person: string;
  rank: string;
  position: string;
}
/**
 * A new gaming day: the calendar's, or with a second person the day after it.
 */
export interface BeginDay {
  command: "begin-day";
  day: string;
}
/**
 * A new shift.
 */
export interface BeginShift {
  command: "begin-shift";
  shift: string;
}
/**
 * Colour chips at a value that the player sets, for cash or cash chips.
 */
export interface BuyColour {
  command: "buy-colour";
  seat: string;
  colour: string;
  value: number;
  pieces: number;
  paid_with: Means;
  marker?: number | null;
}
/**
 * Credits for cash at a terminal.
 */
export interface BuyCredits {
  command: "buy-credits";
  seat: string;
  amount: number;
}
/**
 * A player calls staff, or disputes a round.
 */
export interface CallAttendant {
  command: "call-attendant";
  seat: string;
  subject: Subject;
  round?: number | null;
  detail?: string;
}
/**
 * Colour chips go back for cash chips.
 */
export interface CashColour {
  command: "cash-colour";
  seat: string;
  pieces: number;
}
/**
 * A player withdraws all of their bets, or none.
 */
export interface ChooseWithdrawal {
  command: "choose-withdrawal";
  seat: string;
  withdraw: boolean;
}
/**
 * The table closes: no further round is played.
 */
export interface CloseTable {
  command: "close-table";
}
/**
 * The Dealer closes the option to withdraw.
 */
export interface CloseWithdrawal {
  command: "close-withdrawal";
  others_stay?: boolean;
}
/**
 * A second person confirms a report that holds a round; what the document orders follows.
 */
export interface ConfirmReport {
  command: "confirm-report";
  report: string;
}
/**
 * A second person contests a report that holds a round; it is referred.
 */
export interface ContestReport {
  command: "contest-report";
  report: string;
  reason: string;
}
/**
 * The record of a round is put right, so that it says what lay on the layout.
 */
export interface CorrectRecord {
  command: "correct-record";
  change: RecordChange;
  round?: number | null;
  id?: string;
  new_id?: string;
  seat?: string | null;
  means?: Means | null;
  area?: string | null;
  stake?: number | null;
  reason?: string;
  evidence?: string;
}
/**
 * The cards of the shoe and of the discards are counted, face by face.
 */
export interface CountCards {
  command: "count-cards";
  found: number[];
}
/**
 * The decision on a referral, its reason and its effect.
 */
export interface DecideReferral {
  command: "decide-referral";
  referral: string;
  treatment: Treatment;
  reason: string;
  round?: number | null;
  through?: number | null;
  faces?: number[];
  bets?: {
    [k: string]: string | null;
  };
}
/**
 * Dealer and supervisor declare whether a die was seen.
 */
export interface Declare {
  command: "declare";
  declared: Declared;
}
/**
 * Dealer and supervisor declare what happened at a live table while nothing was recorded.
 */
export interface DeclareUnrecorded {
  command: "declare-unrecorded";
  called?: boolean;
  tumbles?: number;
  seen?: boolean;
  early?: boolean;
  faces?: number[];
  settled?: boolean;
}
/**
 * Two people enter a round that was played by hand while the system was down.
 */
export interface EnterRound {
  command: "enter-round";
  bets?: BetByHand[];
  faces?: number[];
  void?: boolean;
  returned?: {
    [k: string]: number;
  };
  evidence: string;
  reason: string;
}
/**
 * A bet of a round that was played by hand: whose, made with what, on which area.
 */
export interface BetByHand {
  seat: string;
  means: Means;
  area: string;
  stake: number;
}
/**
 * Two people enter the settlement of the current round as it was made by hand.
 */
export interface EnterSettlement {
  command: "enter-settlement";
  returned?: {
    [k: string]: number;
  };
  witnessed?: boolean;
  evidence: string;
  reason: string;
}
/**
 * An inspection with its trial runs, and what they showed.
 */
export interface Inspect {
  command: "inspect";
  item: string;
  runs: number;
  passed: boolean;
  entered?: number[];
  lit?: string[];
  before?: InspectedBefore | null;
}
/**
 * A person leaves the table.
 */
export interface Leave {
  command: "leave";
  person: string;
}
/**
 * The session ends, with nothing left on the seat.
 */
export interface LeaveSeat {
  command: "leave-seat";
  seat: string;
}
/**
 * Decks, counted and checked, come into the shoe.
 */
export interface LoadShoe {
  command: "load-shoe";
  decks: number;
  backs?: string[];
}
/**
 * Staff correct the area of a recorded bet, until positions are fixed.
 */
export interface MoveBet {
  command: "move-bet";
  round: number;
  id: string;
  area: string;
}
/**
 * Changes the odds above the document's floors, under dual control and without live bets.
 */
export interface OfferOdds {
  command: "offer-odds";
  offers: {
    [k: string]: string;
  };
}
/**
 * An act of the round.
 */
export interface Perform {
  command: "perform";
  act: Act;
  tumbles?: number;
  faces?: number[];
  flat?: boolean;
}
/**
 * Places the bets of a terminal, all or none; a retry with known ids changes nothing.
 */
export interface PlaceBets {
  command: "place-bets";
  round: number;
  seat: string;
  bets: Slip[];
  means?: Means | null;
}
/**
 * One bet of a batch: area, stake, and an id that no other bet of the round has, at any terminal.
 */
export interface Slip {
  id: string;
  area: string;
  stake: number;
}
/**
 * Places an item of the book's equipment on the table.
 */
export interface PlaceItem {
  command: "place-item";
  item: string;
  serial?: string;
}
/**
 * Staff or a chip reader record the chips on the layout, for a seat or a colour.
 */
export interface RecordBets {
  command: "record-bets";
  round: number;
  bets: Slip[];
  means: Means;
  seat?: string | null;
  colour?: string | null;
  at_request?: boolean;
}
/**
 * An item leaves the table.
 */
export interface RemoveItem {
  command: "remove-item";
  item: string;
}
/**
 * A shut table may be played again.
 */
export interface Reopen {
  command: "reopen";
  reason: string;
}
/**
 * An item that failed works again.
 */
export interface RepairItem {
  command: "repair-item";
  item: string;
}
/**
 * Reports an irregularity.
 */
export interface ReportIrregularity {
  command: "report";
  event: Irregularity;
  round?: number | null;
  through?: number | null;
  seen?: boolean;
  faces?: number[];
  item?: string | null;
  detail?: string;
}
/**
 * Changes the limits, under dual control and without live bets.
 */
export interface SetLimits {
  command: "set-limits";
  limits: Limits;
}
/**
 * Minimum and maximum per player and area, and what the house may lose on one outcome.
 */
export interface Limits {
  least: number;
  most: number;
  groups?: {
    /**
     * @minItems 2
     * @maxItems 2
     */
    [k: string]: [number, number];
  };
  exposure?: number | null;
}
/**
 * A claim is paid, collected or waived: at the table, or by the cage under a transfer.
 */
export interface SettleClaim {
  command: "settle-claim";
  claim: string;
  how: ClaimEnd;
  transfer?: string | null;
  reason?: string;
}
/**
 * A terminal shows another layout, while its seat has no bets in the round.
 */
export interface ShowLayout {
  command: "show-layout";
  seat: string;
  layout: string;
}
/**
 * All cards of the shoe are shuffled together; the burn follows.
 */
export interface ShuffleShoe {
  command: "shuffle-shoe";
}
/**
 * No round opens until the table is reopened.
 */
export interface Shut {
  command: "shut";
  reason: string;
}
/**
 * Takes bets back before the close, all or none.
 */
export interface TakeBack {
  command: "take-back";
  round: number;
  seat: string;
  ids: string[];
}
/**
 * A player's session at a seat begins; at a terminal, with its layout.
 */
export interface TakeSeat {
  command: "take-seat";
  seat: string;
  player?: string;
  terminal?: string | null;
  layout?: string | null;
}
/**
 * A person of the rank that the document names adopts the interpretations of a rulebook's edition.
 */
export interface AdoptInterpretations {
  command: "adopt-interpretations";
  rulebook: string;
  edition: number;
  digest: string;
  rank: string;
  asked_by: string;
}
/**
 * The owners bring money into the cage.
 */
export interface BringIn {
  command: "bring-in";
  id: string;
  amount: number;
}
/**
 * Money may leave the house for some hours although a witness is silent: two people decide it.
 */
export interface OverrideWitness {
  command: "override-witness";
  hours: number;
  reason: string;
}
/**
 * A ticket is cashed at the cage.
 */
export interface RedeemTicket {
  command: "redeem-ticket";
  ticket: string;
}
/**
 * The owners take money out of the cage, no more than they brought in.
 */
export interface TakeOut {
  command: "take-out";
  id: string;
  amount: number;
}
/**
 * Opens a configured table for the first time, under its configured terms.
 */
export interface OpenTableRequest {
  type: "open-table";
  id: string;
  table: string;
}
/**
 * Puts the member of staff into a position at a table that their rank allows.
 */
export interface TakePositionRequest {
  type: "take-position";
  id: string;
  table: string;
  position: string;
}
/**
 * Takes back the bets that were placed last.
 */
export interface UndoRequest {
  type: "undo";
  id: string;
  table: string;
  seat: string;
}
/**
 * Takes back every bet of the round.
 */
export interface ClearRequest {
  type: "clear";
  id: string;
  table: string;
  seat: string;
}
/**
 * Places every bet of the round once more.
 */
export interface DoubleRequest {
  type: "double";
  id: string;
  table: string;
  seat: string;
}
/**
 * Places the bets of the seat's last round again.
 */
export interface RepeatRequest {
  type: "repeat";
  id: string;
  table: string;
  seat: string;
}
/**
 * Saves a set of bets under a name. An empty set deletes the name.
 */
export interface KeepFavouriteRequest {
  type: "keep-favourite";
  id: string;
  table: string;
  seat: string;
  name: string;
  /**
   * @maxItems 104
   */
  bets: PlacedStake[];
}
/**
 * A stake on an area.
 */
export interface PlacedStake {
  area: string;
  stake: number;
}
/**
 * Asks for the seat's favourites.
 */
export interface FavouritesRequest {
  type: "favourites";
  id: string;
  table: string;
  seat: string;
}
/**
 * Redeems a ticket at a terminal.
 */
export interface TicketInRequest {
  type: "ticket-in";
  id: string;
  table: string;
  seat: string;
  ticket: string;
}
/**
 * Issues a ticket for all credits of a terminal.
 */
export interface TicketOutRequest {
  type: "ticket-out";
  id: string;
  table: string;
  seat: string;
}
/**
 * Asks for the tickets that the terminal issued to this player and that are not redeemed yet.
 */
export interface TicketsRequest {
  type: "tickets";
  id: string;
  table: string;
  seat: string;
}
/**
 * Asks for a layout: areas, labels, odds, limits, drawing.
 */
export interface FeltRequest {
  type: "felt";
  id: string;
  table: string;
  layout?: string | null;
}
/**
 * Asks for past rounds: with all bets for staff, with their own bets of the last ten for a player.
 */
export interface RoundsRequest {
  type: "rounds";
  id: string;
  table: string;
  seat?: string | null;
  round?: number | null;
  most?: number;
}
/**
 * Asks what a result would light and pay, before it is committed.
 */
export interface PreviewRequest {
  type: "preview";
  id: string;
  table: string;
  /**
   * @minItems 3
   * @maxItems 3
   */
  faces: [number, number, number];
}
/**
 * Sells a ticket for cash. The server makes its number. Above the amount for one it takes two people.
 */
export interface SellTicketRequest {
  type: "sell-ticket";
  id: string;
  amount: number;
  approval?: string | null;
}
/**
 * Sends chips from the cage to a table's tray.
 */
export interface FillRequest {
  type: "fill";
  id: string;
  table: string;
  amount: number;
  approval?: string | null;
}
/**
 * Sends chips from a table's tray to the cage.
 */
export interface TakeCreditRequest {
  type: "take-credit";
  id: string;
  table: string;
  amount: number;
  transfer?: string | null;
  approval?: string | null;
}
/**
 * Takes a table's drop box to the count.
 */
export interface TakeDropRequest {
  type: "take-drop";
  id: string;
  table: string;
  approval?: string | null;
}
/**
 * Records what was counted in a drop box that left a table.
 */
export interface CountDropRequest {
  type: "count-drop";
  id: string;
  table: string;
  transfer: string;
  counted: number;
  approval?: string | null;
}
/**
 * Pays a player's claim, or collects the house's, at the cage.
 */
export interface SettleClaimRequest {
  type: "settle-claim";
  id: string;
  table: string;
  claim: string;
  approval?: string | null;
}
/**
 * Asks for every account of the House and the tables, and whether they balance.
 */
export interface BooksRequest {
  type: "books";
  id: string;
}
/**
 * Asks for drop, win and hold of each table, for a gaming day; by default for the current day.
 */
export interface ReportRequest {
  type: "report";
  id: string;
  day?: string | null;
}
/**
 * What a shaker that recognises dice saw, or why it saw nothing.
 */
export interface ReadingRequest {
  type: "reading";
  id: string;
  table: string;
  reading: string;
  faces?: [number, number, number] | null;
  fault?: string | null;
  round?: number | null;
  shake?: number;
}
/**
 * Pauses the virtual dealer of a table, or lets them continue.
 */
export interface VirtualDealerRequest {
  type: "virtual-dealer";
  id: string;
  table: string;
  dealing: boolean;
}
/**
 * The first message on a connection: what a device signs, and the state of the server.
 */
export interface ChallengeNotice {
  type: "challenge";
  protocol: number;
  program: string;
  nonce: string;
  epoch: string;
  demonstration: boolean;
  now: number;
  pages: string;
}
/**
 * The server knows the client: its role and its name.
 */
export interface WelcomeReply {
  type: "welcome";
  to: string;
  role: string;
  name: string;
  table?: string | null;
  seat?: string | null;
  currency?: string;
  replaced?: number;
}
/**
 * The server is there.
 */
export interface PongReply {
  type: "pong";
  to: string;
  now: number;
}
/**
 * The request is carried out, and stored durably.
 */
export interface DoneReply {
  type: "done";
  to: string;
  ticket?: string | null;
  amount?: number | null;
  transfer?: string | null;
  again?: boolean;
}
/**
 * The request is not carried out: why, and by which clause.
 */
export interface RefusedReply {
  type: "refused";
  reason: string;
  message: string;
  to?: string | null;
  clause?: string | null;
  bet?: string | null;
  sums?: number[];
}
/**
 * The whole view of a feed, after `number` changes.
 */
export interface SnapshotNotice {
  type: "snapshot";
  feed: string;
  number: number;
  view: AnyView;
  to?: string | null;
}
/**
 * A table as everyone may see it.
 */
export interface TableView {
  of: "table";
  table: TableFacts;
  limits: LimitsView;
  round: RoundStand;
  countdown: CountdownView;
  dice: DiceView;
  lit: {
    [k: string]: string[];
  };
  history: HistoryView;
  stoppage: Stoppage;
  draw: DrawView;
}
/**
 * What does not change while a table is open.
 */
export interface TableFacts {
  name: string;
  rulebook: string;
  title: Words;
  digest: string;
  currency: string;
  layouts: string[];
  layout: string;
  kind: string;
  demonstration: boolean;
  stand_in: Words | null;
  means: string[];
}
/**
 * A text in English and in Chinese.
 */
export interface Words {
  en: string;
  zh: string;
}
/**
 * Minimum and maximum per player and area.
 */
export interface LimitsView {
  least: number;
  most: number;
  groups: {
    /**
     * @minItems 2
     * @maxItems 2
     */
    [k: string]: [number, number];
  };
  lowest: number;
  highest: number;
  lines: LimitLine[];
}
/**
 * The limits of a group of areas.
 */
export interface LimitLine {
  group: string;
  label: Words;
  least: number;
  most: number;
}
/**
 * The state of the round.
 */
export interface RoundStand {
  number: number;
  phase: string;
  label: Words;
  bets_open: boolean;
  notice: Words;
  since: number | null;
  collected: boolean;
  paid: boolean;
  void: string | null;
}
/**
 * The betting clock.
 */
export interface CountdownView {
  closes_at: number | null;
  since: number | null;
  prompt: boolean;
  is_up: boolean;
}
/**
 * The latest result and its source.
 */
export interface DiceView {
  kind: string;
  round: number | null;
  faces: [number, number, number] | null;
  total: number | null;
  source: Words | null;
}
/**
 * The last results, the oldest first, and their roads and frequencies.
 */
export interface HistoryView {
  results: PastResult[];
  sizes: RoadColumn[];
  parities: RoadColumn[];
  totals: {
    [k: string]: number;
  };
  counted: number;
}
/**
 * The result of a past round.
 */
export interface PastResult {
  number: number;
  void: boolean;
  faces: [number, number, number] | null;
  total: number | null;
  size: string | null;
  parity: string | null;
  by_hand: boolean;
}
/**
 * A column of a road: rounds in a row with the same mark.
 */
export interface RoadColumn {
  mark: string;
  rounds: number[];
}
/**
 * Why the table is stopped; all fields are empty if it is not.
 */
export interface Stoppage {
  closed: boolean;
  shut: string | null;
  hold: string | null;
  says: Words | null;
  clause: string | null;
}
/**
 * The commitment of the demonstration shaker, and what it revealed last.
 */
export interface DrawView {
  commitment: string | null;
  round: number | null;
  revealed: Revealed | null;
}
/**
 * What a player needs to compute the dice of a round.
 */
export interface Revealed {
  round: number;
  seed: string;
  shake: number;
  close: number;
  hash: string;
  faces: number[];
}
/**
 * A table as its staff see it.
 */
export interface ConsoleView {
  of: "console";
  table: string;
  day: string;
  shift: string;
  offers: Offer[];
  irregularities: IrregularityLine[];
  countdown: CountdownView;
  people: PersonLine[];
  equipment: ItemLine[];
  shoe: ShoeView | null;
  seats: SeatsView;
  risk: RiskView | null;
  referrals: ReferralLine[];
  reports: ReportLine[];
  withdrawal: WithdrawalView | null;
  claims: ClaimLine[];
  reading: ReadingView | null;
  transfers: TransferInTransit[];
  watch: WatchView | null;
  exposure: number | null;
  odds: {
    [k: string]: string;
  };
}
/**
 * A command that is possible now.
 */
export interface Offer {
  command: string;
  preset: {};
  blanks: Blank[];
  by: string[];
  clause: string;
  label: Words;
  then: Words | null;
  final: Words | null;
  main: boolean;
}
/**
 * A field of a command to fill in.
 */
export interface Blank {
  field: string;
  kind: string;
  label: Words;
  least: number | null;
  most: number | null;
  choices: Choice[];
  optional: boolean;
  when: {
    [k: string]: string[];
  } | null;
}
/**
 * A value that a field can have.
 */
export interface Choice {
  value: string;
  label: Words;
}
/**
 * An irregularity that can be reported now, and its ruling.
 */
export interface IrregularityLine {
  id: string;
  label: Words;
  ruling: string;
  says: Words;
  clause: string;
  to: string | null;
  foreseen: boolean;
  blanks: Blank[];
  by: string[];
  instead: Words | null;
  if_seen: SeenRuling | null;
}
/**
 * The ruling on a report that says that a concealed die or card was seen.
 */
export interface SeenRuling {
  ruling: string;
  says: Words;
  clause: string;
}
/**
 * A member of staff at the table.
 */
export interface PersonLine {
  name: string;
  rank: string;
  position: string;
  label: Words;
}
/**
 * A piece of equipment.
 */
export interface ItemLine {
  item: string;
  label: Words;
  clause: string;
  placed: boolean;
  failed: boolean;
  serial: string;
  custodian: string | null;
  until: number | null;
  due: InspectionDue[];
}
/**
 * An inspection that is due.
 */
export interface InspectionDue {
  before: string;
  by: string;
  runs: number;
  clause: string;
}
/**
 * The shoe and its cards.
 */
export interface ShoeView {
  decks: number;
  cards: number;
  left: number;
  burnt: number;
  rounds: number;
  seen: number[];
  shuffled: boolean;
  spoilt: boolean;
  unready: string | null;
}
/**
 * The taken seats: the number of all, and the first ones.
 */
export interface SeatsView {
  taken: number;
  shown: SeatLine[];
  colours: ColourLine[];
}
/**
 * A seat that is taken.
 */
export interface SeatLine {
  seat: string;
  player: string;
  terminal: string | null;
  session: number;
  layout: string;
  credits: number;
  at_risk: number;
  colour: string | null;
  colour_value: number;
}
/**
 * A colour of colour chips.
 */
export interface ColourLine {
  colour: string;
  label: Words;
  paint: string;
  mark: string;
}
/**
 * What the house would win or lose in the current round.
 */
export interface RiskView {
  staked: number;
  bets: number;
  worst: Extreme;
  best: Extreme;
  exposures: number[];
}
/**
 * An outcome, and what the house would lose on it; negative if it would win.
 */
export interface Extreme {
  /**
   * @minItems 3
   * @maxItems 3
   */
  faces: [number, number, number];
  loses: number;
}
/**
 * A question that waits for a decision.
 */
export interface ReferralLine {
  id: string;
  subject: string;
  label: Words;
  clause: string;
  to: string;
  holds: boolean;
  seat: string | null;
  round: number | null;
  detail: string;
}
/**
 * A report that waits for a second person, and what follows if they confirm it.
 */
export interface ReportLine {
  id: string;
  label: Words;
  clause: string;
  by: string;
  round: number | null;
  through: number | null;
  seen: boolean;
  item: Words | null;
  detail: string;
  faces: [number, number, number] | null;
  shown: [number, number, number] | null;
  then: Words;
  paid: boolean;
  returns: SeatReturn[];
  sums: SeatReturn | null;
}
/**
 * What a seat gets from a round: as it stands, and after a change.
 */
export interface SeatReturn {
  seat: string;
  now: number;
  then: number;
}
/**
 * The players' option to withdraw their bets, while it is open.
 */
export interface WithdrawalView {
  clause: string;
  chosen: {
    [k: string]: boolean;
  };
  waiting: number;
  unasked: UnaskedSeat[];
}
/**
 * A seat whose player has not chosen yet whether to withdraw.
 */
export interface UnaskedSeat {
  seat: string;
  player: string;
  at_risk: number;
}
/**
 * Money that the house owes a player, or a player the house.
 */
export interface ClaimLine {
  id: string;
  round: number;
  seat: string;
  session: number;
  amount: number;
  of_player: boolean;
}
/**
 * The latest reading of a device, or its fault and the irregularity to report.
 */
export interface ReadingView {
  id: string;
  device: string;
  shake: number;
  faces: [number, number, number] | null;
  fault: string | null;
  label: Words;
  suggested: IrregularityLine | null;
}
/**
 * A transfer between a table and the cage that only one side has booked.
 */
export interface TransferInTransit {
  id: string;
  table: string;
  kind: string;
  amount: number;
  booked_by: string;
  subject: string;
}
/**
 * The statistical test of the dice in use.
 */
export interface WatchView {
  results: number;
  e_value: string;
  alarm: boolean;
  says: Words | null;
}
/**
 * A seat as its player sees it.
 */
export interface SeatView {
  of: "seat";
  seat: string;
  taken: boolean;
  player: string;
  session: number;
  since: number | null;
  net: number;
  layout: string;
  credits: number;
  at_risk: number;
  payable: number;
  bets: Slip[];
  last: LastRound | null;
  withdrawal: boolean;
  withdrew: boolean | null;
  claims: ClaimLine[];
  colour: ColourChips | null;
  in_colour: string[];
}
/**
 * The result of the seat's last round.
 */
export interface LastRound {
  number: number;
  void: boolean;
  staked: number;
  returned: number;
}
/**
 * Colour chips of this seat, at the value at which they were bought.
 */
export interface ColourChips {
  colour: ColourLine;
  value: number;
  credits: number;
}
/**
 * Every open table.
 */
export interface LobbyView {
  of: "lobby";
  tables: LobbyTable[];
}
/**
 * An open table.
 */
export interface LobbyTable {
  name: string;
  title: Words;
  operator: string;
  rulebook: string;
  phase: string;
  label: Words;
  bets_open: boolean;
  number: number;
  last: PastResult | null;
  least: number;
  most: number;
  currency: string;
  demonstration: boolean;
  shut: boolean;
}
/**
 * Every table, and what needs attention.
 */
export interface PitView {
  of: "pit";
  tables: PitTable[];
  alarms: Alarm[];
  wins: LargeWin[];
  locked: string[];
  no_money: Words | null;
  unopened: string[];
}
/**
 * A table as the pit sees it.
 */
export interface PitTable {
  name: string;
  title: Words;
  phase: string;
  label: Words;
  number: number;
  dealer: string | null;
  shut: string | null;
  hold: string | null;
  says: Words | null;
  clause: string | null;
  referrals: ReferralLine[];
  reports: number;
  staked: number;
  worst: number;
}
/**
 * Something that needs attention.
 */
export interface Alarm {
  at: number;
  about: string;
  says: Words;
}
/**
 * A large win of a seat in a round.
 */
export interface LargeWin {
  table: string;
  round: number;
  seat: string;
  won: number;
}
/**
 * The cage.
 */
export interface CageView {
  of: "cage";
  house: string;
  currency: string;
  quick: number[];
  cash: number;
  outstanding: number;
  in_transit: TransferInTransit[];
  claims: TableClaims[];
}
/**
 * The open claims of a table.
 */
export interface TableClaims {
  table: string;
  to_players: number;
  by_players: number;
  claims: ClaimLine[];
}
/**
 * The requests that this person may approve, and what became of this session's own.
 */
export interface ApprovalsView {
  of: "approvals";
  waiting: ApprovalLine[];
  own: OwnApprovalLine[];
}
/**
 * A request that waits for the approval of a second person, in the words of the server.
 */
export interface ApprovalLine {
  id: string;
  by: string;
  rank: string;
  what: Words;
  then: Words | null;
  table: string | null;
  seat: string | null;
  fields: ApprovalField[];
  asked: number;
  until: number;
}
/**
 * One thing that a request changes.
 */
export interface ApprovalField {
  label: Words;
  value: Words;
  amount: number | null;
}
/**
 * What became of a request for which this session asked for an approval.
 */
export interface OwnApprovalLine {
  id: string;
  state: string;
  until: number;
  by: string | null;
  reason: string;
  ranks: string[];
  people: string[];
  asks: ApprovalLine | null;
}
/**
 * The alarms of the server itself. They come also while the journal's writer stands still.
 */
export interface AlarmsView {
  of: "alarms";
  standing: SystemAlarm[];
  ended: SystemAlarm[];
}
/**
 * Something is wrong with the server, its machine or its journal.
 */
export interface SystemAlarm {
  name: string;
  at: number;
  until: number | null;
  grave: boolean;
  says: Words;
}
/**
 * The next change of a feed: those fields of its view that are different now.
 */
export interface ChangeNotice {
  type: "change";
  feed: string;
  number: number;
  changes: AnyChanges;
  what?: string[];
}
/**
 * The changed fields of TableView.
 */
export interface TableChanges {
  of: "table";
  table?: TableFacts;
  limits?: LimitsView;
  round?: RoundStand;
  countdown?: CountdownView;
  dice?: DiceView;
  lit?: {
    [k: string]: string[];
  };
  history?: HistoryView;
  stoppage?: Stoppage;
  draw?: DrawView;
}
/**
 * The changed fields of ConsoleView.
 */
export interface ConsoleChanges {
  of: "console";
  table?: string;
  day?: string;
  shift?: string;
  offers?: Offer[];
  irregularities?: IrregularityLine[];
  countdown?: CountdownView;
  people?: PersonLine[];
  equipment?: ItemLine[];
  shoe?: ShoeView | null;
  seats?: SeatsView;
  risk?: RiskView | null;
  referrals?: ReferralLine[];
  reports?: ReportLine[];
  withdrawal?: WithdrawalView | null;
  claims?: ClaimLine[];
  reading?: ReadingView | null;
  transfers?: TransferInTransit[];
  watch?: WatchView | null;
  exposure?: number | null;
  odds?: {
    [k: string]: string;
  };
}
/**
 * The changed fields of SeatView.
 */
export interface SeatChanges {
  of: "seat";
  seat?: string;
  taken?: boolean;
  player?: string;
  session?: number;
  since?: number | null;
  net?: number;
  layout?: string;
  credits?: number;
  at_risk?: number;
  payable?: number;
  cleared?: boolean;
  gone?: string[];
  placed?: Slip[];
  last?: LastRound | null;
  withdrawal?: boolean;
  withdrew?: boolean | null;
  claims?: ClaimLine[];
  colour?: ColourChips | null;
  in_colour?: string[];
}
/**
 * The changed fields of LobbyView.
 */
export interface LobbyChanges {
  of: "lobby";
  tables?: LobbyTable[];
}
/**
 * The changed fields of PitView.
 */
export interface PitChanges {
  of: "pit";
  tables?: PitTable[];
  alarms?: Alarm[];
  wins?: LargeWin[];
  locked?: string[];
  no_money?: Words | null;
  unopened?: string[];
}
/**
 * The changed fields of CageView.
 */
export interface CageChanges {
  of: "cage";
  house?: string;
  currency?: string;
  quick?: number[];
  cash?: number;
  outstanding?: number;
  in_transit?: TransferInTransit[];
  claims?: TableClaims[];
}
/**
 * The changed fields of ApprovalsView.
 */
export interface ApprovalsChanges {
  of: "approvals";
  waiting?: ApprovalLine[];
  own?: OwnApprovalLine[];
}
/**
 * The changed fields of AlarmsView.
 */
export interface AlarmsChanges {
  of: "alarms";
  standing?: SystemAlarm[];
  ended?: SystemAlarm[];
}
/**
 * The client has every change of the feed up to `number`, and receives the next ones.
 */
export interface FollowingReply {
  type: "following";
  to: string;
  feed: string;
  number: number;
}
/**
 * The seat's favourites.
 */
export interface FavouritesReply {
  type: "favourites";
  to: string;
  favourites: Favourite[];
}
/**
 * A set of bets under a name.
 */
export interface Favourite {
  name: string;
  bets: PlacedStake[];
}
/**
 * The seat's tickets, latest first.
 */
export interface TicketsReply {
  type: "tickets";
  to: string;
  house: string;
  tickets: TicketLine[];
}
/**
 * A ticket that a terminal issued.
 */
export interface TicketLine {
  ticket: string;
  amount: number;
  at: number;
}
/**
 * A layout.
 */
export interface FeltReply {
  type: "felt";
  to: string;
  felt: FeltView;
}
/**
 * A layout under the settings, odds and limits in force.
 */
export interface FeltView {
  table: string;
  rulebook: string;
  layout: string;
  clause: string;
  terms: string;
  wide: number;
  tall: number;
  drawn: string;
  cells: FeltCell[];
  areas: FeltArea[];
  denominations: number[];
}
/**
 * A rectangle of the layout, in units from the top left: an area, the odds of one, or blank.
 */
export interface FeltCell {
  x: number;
  y: number;
  wide: number;
  tall: number;
  block: string;
  drawing: string;
  area: string | null;
  odds_of: string | null;
  odds: Words | null;
  figures: string | null;
  note: Words | null;
}
/**
 * An area: its label, odds, winning condition and limits.
 */
export interface FeltArea {
  id: string;
  label: Words;
  family: string;
  numbers: number[];
  odds: OddsLine[];
  wins: Words;
  clause: string;
  says: string;
  least: number;
  most: number;
  step: number;
  edge: string | null;
}
/**
 * Odds as printed.
 */
export interface OddsLine {
  text: Words;
  dice: number | null;
}
/**
 * Past rounds, latest first.
 */
export interface RoundsReply {
  type: "rounds";
  to: string;
  rounds: RoundView[];
}
/**
 * A round.
 */
export interface RoundView {
  table: string;
  number: number;
  day: string;
  opened_at: number;
  phase: string;
  label: Words;
  faces: [number, number, number] | null;
  total: number | null;
  entered: number[] | null;
  void: boolean;
  clause: string | null;
  decided: boolean;
  bets: BetLine[];
  left_out: number;
  totals: RoundTotals;
  lit: {
    [k: string]: string[];
  };
  says: {
    [k: string]: string;
  };
  seat: string | null;
  incidents: Incident[];
  by_hand: boolean;
  recalled: boolean;
}
/**
 * A bet and what became of it.
 */
export interface BetLine {
  id: string;
  seat: string;
  layout: string;
  area: string;
  label: Words;
  stake: number;
  means: string;
  state: BetState;
  won: number;
  returned: number;
  kept_out: number;
  clause: string | null;
  kept_out_by: string | null;
  lay: boolean;
  ruled: RuledBet | null;
}
/**
 * How a bet was treated outside the settlement, and by whom.
 */
export interface RuledBet {
  how: string;
  by: string;
  second: string | null;
  reason: string;
}
/**
 * The sums of the bets of a round, or of one seat.
 */
export interface RoundTotals {
  bets: number;
  staked: number;
  won: number;
  returned: number;
}
/**
 * An irregularity, a referral or a correction in the round.
 */
export interface Incident {
  at: number;
  by: string;
  what: string;
  says: Words;
  clause: string;
  second: string | null;
  reason: string;
}
/**
 * What a result would pay and light.
 */
export interface PreviewReply {
  type: "preview";
  to: string;
  preview: PreviewView;
}
/**
 * What a result would do, before it is entered.
 */
export interface PreviewView {
  /**
   * @minItems 3
   * @maxItems 3
   */
  faces: [number, number, number];
  total: number;
  lit: {
    [k: string]: string[];
  };
  staked: number;
  won: number;
  returned: number;
  collected: number;
  house: Extreme;
  differs: boolean;
}
/**
 * Every account of the House and the tables.
 */
export interface BooksReply {
  type: "books";
  to: string;
  books: BooksView;
}
/**
 * Every account of House and tables.
 */
export interface BooksView {
  currency: string;
  books: Books[];
  in_transit: TransferInTransit[];
  sum: number;
  balanced: boolean;
  off: string[];
}
/**
 * The accounts of a table, or of the House.
 */
export interface Books {
  of: string;
  accounts: {
    [k: string]: number;
  };
  held: number;
  owed: number;
}
/**
 * Drop, win and hold of each table.
 */
export interface ReportReply {
  type: "report";
  to: string;
  report: ReportView;
}
/**
 * Drop, win and hold of a gaming day.
 */
export interface ReportView {
  day: string;
  tables: TakingsLine[];
  totals: TakingsLine[];
}
/**
 * The takings of a table in a gaming day, or in one shift of it.
 */
export interface TakingsLine {
  table: string;
  currency: string;
  day: string;
  shift: string;
  drop: number;
  tickets_in: number;
  tickets_out: number;
  fills: number;
  credits: number;
  handle: number;
  collected: number;
  won: number;
  win: number;
  hold: string | null;
  hold_percent: string | null;
  rounds: number;
  void: number;
  record_corrections: number;
  by_hand: number;
}
/**
 * The server closes the connection: why.
 */
export interface EndNotice {
  type: "end";
  why: string;
  message: string;
}
/**
 * What comes back of every bet, in the order of the bets; 0 for a bet that loses.
 */
export interface SettleAnswer {
  kind: "settle";
  book: string;
  layout: string;
  level: number;
  seed: number;
  took: number;
  /**
   * @maxItems 15
   */
  returned:
    | []
    | [number]
    | [number, number]
    | [number, number, number]
    | [number, number, number, number]
    | [number, number, number, number, number]
    | [number, number, number, number, number, number]
    | [number, number, number, number, number, number, number]
    | [number, number, number, number, number, number, number, number]
    | [number, number, number, number, number, number, number, number, number]
    | [number, number, number, number, number, number, number, number, number, number]
    | [number, number, number, number, number, number, number, number, number, number, number]
    | [number, number, number, number, number, number, number, number, number, number, number, number]
    | [number, number, number, number, number, number, number, number, number, number, number, number, number]
    | [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number
      ]
    | [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        number
      ];
}
/**
 * The three faces, in any order, and the areas that light up.
 */
export interface KeyAnswer {
  kind: "key";
  book: string;
  layout: string;
  level: number;
  seed: number;
  took: number;
  /**
   * @minItems 3
   * @maxItems 3
   */
  faces: [number, number, number];
  /**
   * @maxItems 200
   */
  lit: string[];
}
/**
 * The id of a choice.
 */
export interface RulingAnswer {
  kind: "ruling";
  book: string;
  layout: string;
  level: number;
  seed: number;
  took: number;
  choice: string;
}
/**
 * Bets of several seats, and what dice or cards show.
 */
export interface SettleExerciseResponse {
  kind: "settle";
  book: string;
  title: Words;
  layout: string;
  level: number;
  seed: number;
  par: number;
  cards: boolean;
  faces: number[];
  bets: SchoolBet[];
}
/**
 * A bet on the layout.
 */
export interface SchoolBet {
  area: string;
  label: Words;
  seat: number;
  colour: string;
  colour_label: Words;
  stake: number;
}
/**
 * What dice or cards show, in the order in which they are shown.
 */
export interface KeyExerciseResponse {
  kind: "key";
  book: string;
  title: Words;
  layout: string;
  level: number;
  seed: number;
  par: number;
  cards: boolean;
  faces: number[];
}
/**
 * An irregularity, its phase, and four rulings.
 */
export interface RulingExerciseResponse {
  kind: "ruling";
  book: string;
  title: Words;
  layout: string;
  level: number;
  seed: number;
  par: number;
  phase: string;
  irregularity: string;
  label: Words;
  context: Words;
  choices: SchoolChoice[];
}
/**
 * A ruling to choose.
 */
export interface SchoolChoice {
  id: string;
  says: Words;
}
/**
 * Bet by bet, in the order of the exercise.
 */
export interface SettleJudgedResponse {
  kind: "settle";
  score: number;
  bonus: number;
  right: number;
  of: number;
  took: number;
  par: number;
  bets: JudgedBetResponse[];
}
/**
 * A bet, the figure that was answered, and what comes back.
 */
export interface JudgedBetResponse {
  area: string;
  label: Words;
  right: boolean;
  odds: Words | null;
  clause: string;
  says: string;
  stake: number;
  answered: number;
  returned: number;
}
/**
 * The result, and every area that lights up or was marked.
 */
export interface KeyJudgedResponse {
  kind: "key";
  score: number;
  bonus: number;
  right: number;
  of: number;
  took: number;
  par: number;
  faces: number[];
  keyed: number[];
  faces_right: boolean;
  areas: JudgedAreaResponse[];
}
/**
 * An area that lights up, or that was marked.
 */
export interface JudgedAreaResponse {
  area: string;
  label: Words;
  right: boolean;
  odds: Words | null;
  clause: string;
  says: string;
  lights: boolean;
  marked: boolean;
}
/**
 * What the rules order, by which clause, and who decides.
 */
export interface RulingJudgedResponse {
  kind: "ruling";
  score: number;
  bonus: number;
  right: number;
  of: number;
  took: number;
  par: number;
  chosen: string;
  ordered: string;
  ruling: Words;
  clause: string;
  says: string;
  decides: Words;
  foreseen: boolean;
}
/**
 * Who adopted the interpretations of an edition, and when.
 */
export interface AdoptedResponse {
  rulebook: string;
  edition: number;
  digest: string;
  by: string;
  at: number;
}
/**
 * The approval that a virtual supervisor is to give.
 */
export interface AgreeBody {
  approval: string;
}
/**
 * The request for which a second person's approval is wanted. Its id does not count.
 *
 *     It is a request on the socket, or `{"endpoint": …, "body": …}`.
 */
export interface ApprovalBody {
  request: {};
}
/**
 * The id of an approval. Once it is given, this session may make exactly this request, once.
 */
export interface ApprovalResponse {
  approval: string;
  until: number;
}
/**
 * The second person approves; some minutes after their last code they give another, or use a passkey.
 */
export interface ApproveBody {
  code?: string | null;
  challenge?: string | null;
  assertion?: {} | null;
}
/**
 * A clause of a document, in the words of the rulebook.
 */
export interface ClauseResponse {
  clause: string;
  says: string;
}
/**
 * What a person sets; what is left out stays as it is.
 */
export interface CredentialsBody {
  setup: string;
  password?: string | null;
  code?: string | null;
  passkey?: {} | null;
}
/**
 * The tables and roles of the demonstration.
 */
export interface DemoResponse {
  currency: string;
  roles: string[];
  tables: DemoTable[];
}
/**
 * A table of the demonstration.
 */
export interface DemoTable {
  table: string;
  rulebook: string;
  dealer: string;
  dealing: boolean;
  head: string;
  ranks: string[];
  players: string[];
}
/**
 * A device, its place and its key.
 */
export interface DeviceBody {
  device: string;
  kind: DeviceKind;
  key: string;
  table: string;
  seat?: string | null;
  approval?: string | null;
}
/**
 * An enrolled device.
 */
export interface DeviceResponse {
  device: string;
  kind: string;
  table: string;
  seat: string | null;
  key: string;
}
/**
 * A member of staff to remove from the staff list.
 */
export interface DismissBody {
  person: string;
  approval?: string | null;
}
/**
 * A device to remove, and the reason.
 */
export interface DismissDeviceBody {
  reason: string;
  device: string;
}
/**
 * The request is carried out and stored durably.
 */
export interface DoneResponse {
  done: boolean;
  activation: string | null;
  until: number | null;
  token: string | null;
}
/**
 * An edition of a rulebook of this house whose interpretations somebody has to adopt.
 */
export interface EditionResponse {
  rulebook: string;
  edition: number;
  title: Words;
  digest: string;
  rank: string;
  asked_by: string;
  tables: string[];
  interpretations: ReadingResponse[];
}
/**
 * How an unclear passage of a document is read, and why.
 */
export interface ReadingResponse {
  clauses: ClauseResponse[];
  reading: string;
  reason: string;
}
/**
 * Which of one's own sessions to end, and a code or the answer of a passkey as proof that it is them.
 */
export interface EndSessionsBody {
  session?: string | null;
  code?: string | null;
  challenge?: string | null;
  assertion?: {} | null;
}
/**
 * A role of the demonstration, and a table.
 */
export interface EnterBody {
  role: string;
  table?: string | null;
  key?: string | null;
}
/**
 * How a visitor connects to the demonstration: with a session token, or as an enrolled device.
 */
export interface EnterResponse {
  role: string;
  name: string;
  token: string | null;
  device: string | null;
  table: string | null;
  seat: string | null;
}
/**
 * A person's name and the activation code that they were given.
 */
export interface FirstSignInBody {
  person: string;
  activation: string;
}
/**
 * The state of the server. A stranger gets the status, and the name and rulebook of each table.
 */
export interface HealthResponse {
  status: string;
  demonstration: boolean;
  tables: TableHealth[];
  program: string | null;
  sockets: number | null;
  journal: number | null;
  trouble: string | null;
  checks: string[];
  alarms: SystemAlarm[];
}
/**
 * The state of a table.
 */
export interface TableHealth {
  name: string;
  rulebook: string;
  phase: string | null;
  number: number | null;
  hold: string | null;
  shut: string | null;
}
/**
 * The editions whose interpretations somebody has to adopt, and every adoption.
 */
export interface InterpretationsResponse {
  editions: EditionResponse[];
  adopted: AdoptedResponse[];
}
/**
 * One of a person's own open sessions.
 */
export interface OwnSession {
  session: string;
  opened: number;
  seen: number;
  address: string;
  is_this: boolean;
}
/**
 * A person's name, and the answer of their passkey to a challenge (AuthenticationResponseJSON).
 */
export interface PasskeyBody {
  person: string;
  challenge: string;
  assertion: {};
}
/**
 * A challenge for a passkey. It is good once, for two minutes.
 */
export interface PasskeyChallengeResponse {
  challenge: string;
  host: string;
}
/**
 * A person's own password and a code, or the answer of their passkey, as proof that it is them.
 */
export interface ProofBody {
  password?: string | null;
  code?: string | null;
  challenge?: string | null;
  assertion?: {} | null;
}
/**
 * The reason for an action.
 */
export interface ReasonBody {
  reason: string;
}
/**
 * Why the request is not carried out.
 */
export interface RefusalResponse {
  reason: string;
  message: string;
  clause: string | null;
}
/**
 * A session of a member of staff.
 */
export interface SessionResponse {
  person: string;
  role: string;
  session: string;
  opened: number;
}
/**
 * What a person needs to set their own credentials. The server does not show it again.
 */
export interface SetupResponse {
  setup: string;
  person: string;
  uri: string;
  until: number;
  passkey: {} | null;
  may_set_password: boolean;
  token: string | null;
}
/**
 * A person's name, password and code.
 */
export interface SignInBody {
  person: string;
  password: string;
  code: string;
}
/**
 * A new session and its token. The server does not show the token again.
 */
export interface SignInResponse {
  token: string;
  session: SessionResponse;
}
/**
 * A new member of staff, or the new rank of one.
 */
export interface StaffBody {
  person: string;
  rank: string;
  activate?: boolean | null;
  approval?: string | null;
}
/**
 * A person on the staff list.
 */
export interface StaffMember {
  person: string;
  rank: string;
  locked: boolean;
  has_credentials: boolean;
  sessions: number;
  activation: number | null;
  recovered: boolean;
}
/**
 * The reason, and the approval of a second person.
 */
export interface UnlockBody {
  reason: string;
  approval?: string | null;
}
/**
 * The milliseconds that a good dealer needs for an exercise.
 */
export interface ParTime {
  kind: string;
  level: number;
  par: number;
}
/**
 * A rulebook to practise with, and its layouts.
 */
export interface SchoolBook {
  book: string;
  title: Words;
  layouts: string[];
  cards: boolean;
}
/**
 * What can be practised.
 */
export interface SchoolResponse {
  books: SchoolBook[];
  pars: ParTime[];
  greatest_seed: number;
  longest: number;
}
