// The connection to the server. It reconnects by itself, keeps feeds current or marks them as lost, and answers every
// request.
import { SvelteMap, SvelteSet } from "svelte/reactivity";
import { backoff } from "./retry.svelte";
import { changed } from "./changes";
import { setClock } from "./clock.svelte";
import { signature } from "./device";
import { latestToken, Refused, Unanswered } from "./http";
import type {
  AnyRequest, AnyServerMessage, AnyView, AnyCommand, ChallengeNotice, ChangeNotice, WelcomeReply,
} from "./messages";
import { LOOKS, Heartbeat } from "./heartbeat";
import { isStale, reloadOnce } from "./upgrade";
import { Waiting } from "./pendingRequests.svelte";

const PROTOCOL_VERSION = 2;
const FIRST_WAIT = 250;
const LONGEST_WAIT = 5_000;
/**
 * Milliseconds from opening the socket to the welcome, long enough when every terminal of a hall reconnects at once.
 */
const COME_IN_WITHIN = 10_000;
/** After this many milliseconds connected, the wait before reconnecting starts small again. */
const STEADY = 10_000;
/** Milliseconds to wait for a message when the device reports that it has no network. */
const WHEN_OFFLINE = 1_500;
const UNTIL_OPEN = 3_000; // ms until a page asks again for a table that is not open yet
/** Reason: the same device or person connected elsewhere. To reconnect would close that connection in turn. */
const REPLACED = "replaced";
/** Reasons that mean the client must sign in or be enrolled again. After any other reason it may reconnect. */
const NOT_LET_IN: readonly string[] = ["not-known", "protocol", "signed-out", "idle", "expired", "revoked"];

/** Who a page is to the server: staff have a token, a device has its key, a visitor has neither. */
export interface Identity {
  token?: string | undefined;
  device?: string | undefined;
  key?: CryptoKey | undefined;
}

export type State = "connecting" | "open" | "lost" | "unknown" | "replaced";
/** A request without its id, which the connection adds. */
export type RequestBody = AnyRequest extends infer A ? (A extends { id: string } ? Omit<A, "id"> : never) : never;
type FeedListener = (what: readonly string[], view: AnyView, before: AnyView | undefined) => void;

export class Connection {
  state = $state<State>("connecting");
  /** The server's reason for ending the connection. */
  why = $state("");
  welcome = $state.raw<WelcomeReply | null>(null);
  isDemonstration = $state(false);
  readonly views = new SvelteMap<string, AnyView>();
  /** Tables that a page wants and that are not open yet. It waits for them. */
  readonly unopened = new SvelteSet<string>();

  readonly #who: Identity;
  readonly #prefix = crypto.randomUUID().slice(0, 13);
  readonly #places = new Map<string, number>();
  readonly #wanted = new Set<string>();
  readonly waiting = new Waiting();
  readonly #listeners = new Map<string, Set<FeedListener>>();
  #socket: WebSocket | null = null;
  #epoch = "";
  #made = 0;
  #tries = 0;
  #isClosed = false;
  readonly #pulse = new Heartbeat();
  #openedAt = 0;
  #beatAt = 0;
  #looking: ReturnType<typeof setInterval> | undefined;
  /** Runs until the next connection attempt, or until the welcome is overdue. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(who: Identity) {
    this.#who = who;
    addEventListener("offline", this.#offline);
    addEventListener("online", this.#online);
    document.addEventListener("visibilitychange", this.#online);
    this.#dial();
  }

  /** Whether a person is signed in here, and neither a device nor a visitor of a demonstration. */
  get isSignedIn(): boolean {
    return this.#who.token !== undefined && this.welcome !== null && !this.isDemonstration;
  }

  // Requests

  /**
   * Sends a request and returns the reply; throws a refusal. A request that `isSafe` is sent again with the same `id`.
   */
  send<T extends AnyServerMessage = AnyServerMessage>(request: RequestBody, { isSafe = false, id = this.newId() } = {}): Promise<T> {
    const whole = { ...request, id } as AnyRequest;
    const isSent = this.state === "open" || whole.type === "hello";
    if (!isSent && !isSafe) return Promise.reject(new Unanswered());
    const answer = this.waiting.wait(whole, isSafe);
    if (isSent) this.#socket?.send(JSON.stringify(whole));
    return answer as Promise<T>;
  }

  /** Sends a command to a table or to the house. */
  do(table: string | null, command: AnyCommand, more: { approval?: string; isSafe?: boolean; id?: string } = {}): Promise<AnyServerMessage> {
    const { approval, isSafe = false, id = this.newId() } = more;
    const request = { type: "do", do: command, ...(table === null ? {} : { table }), ...(approval ? { approval } : {}) };
    return this.send(request as RequestBody, { isSafe, id });
  }

  /** A unique id for a request or a bet. */
  newId(): string {
    this.#made += 1;
    return `${this.#prefix}-${this.#made}`;
  }

  // Feeds

  /** Follows a feed while the page is open. Its view is in `views` when this returns. */
  async follow(feed: string, heard?: FeedListener): Promise<void> {
    if (heard) {
      const all = this.#listeners.get(feed) ?? new Set();
      this.#listeners.set(feed, all.add(heard));
    }
    await this.#followWhenOpen(feed);
  }

  async unfollow(feed: string): Promise<void> {
    this.#wanted.delete(feed);
    this.#listeners.delete(feed);
    this.#places.delete(feed);
    this.views.delete(feed);
    if (this.state === "open") await this.send({ type: "unfollow", feed });
  }

  /** Takes the connection back from the page that replaced this one. */
  again(): void {
    if (this.state !== "replaced" || this.#isClosed) return;
    this.state = "connecting";
    this.#dial();
  }

  close(): void {
    this.#isClosed = true;
    removeEventListener("offline", this.#offline);
    removeEventListener("online", this.#online);
    document.removeEventListener("visibilitychange", this.#online);
    if (this.#socket) this.#drop(this.#socket);
    clearTimeout(this.#timer);
  }

  async #follow(feed: string): Promise<void> {
    const after = this.#places.get(feed);
    const since = after === undefined ? {} : { epoch: this.#epoch, after };
    await this.send({ type: "follow", feed, ...since } as RequestBody, { isSafe: after === undefined });
  }

  /** Nobody stands at a display or a new terminal to load it again when its table opens. */
  async #followWhenOpen(feed: string): Promise<void> {
    this.#wanted.add(feed);
    const table = /^(?:table|console):(.+)$/.exec(feed)?.[1];
    for (;;) {
      try {
        await this.#follow(feed);
        return void (table && this.unopened.delete(table));
      } catch (error) {
        if (!table || !(error instanceof Refused && error.reason === "not-known")) throw error;
        this.unopened.add(table);
        await new Promise((done) => { setTimeout(done, UNTIL_OPEN); });
        if (this.#isClosed || !this.#wanted.has(feed)) throw error;
      }
    }
  }

  // The connection

  #dial(): void {
    clearTimeout(this.#timer);
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket`);
    this.#socket = socket;
    socket.onmessage = (message) => {
      this.#pulse.heard();
      for (const tell of JSON.parse(String(message.data)) as AnyServerMessage[]) this.#hear(tell, socket);
    };
    socket.onclose = () => this.#cut(socket);
    this.#timer = setTimeout(() => this.#drop(socket), COME_IN_WITHIN);
  }

  /** Drops a dead connection without waiting for its close handshake, which would not arrive. */
  #drop(socket: WebSocket): void {
    socket.onmessage = socket.onclose = null;
    this.#cut(socket);
    socket.close();
  }

  #cut(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    clearTimeout(this.#timer);
    clearInterval(this.#looking);
    if (this.state === "open" && performance.now() - this.#openedAt > STEADY) this.#tries = 0;
    const isOver = this.state === "unknown" || this.state === "replaced";
    if (!isOver) this.state = "lost";
    this.waiting.cut(this.#isClosed);
    // Staff must sign in again. A device may be enrolled at any moment, so it keeps trying.
    if (this.#isClosed || this.state === "replaced" || (this.state === "unknown" && !this.#who.device)) return;
    const wait = backoff(this.state === "unknown" ? Infinity : this.#tries, FIRST_WAIT, LONGEST_WAIT);
    this.#tries += 1;
    this.#timer = setTimeout(() => this.#dial(), wait);
  }

  // Heartbeat

  /** Checks whether the server still answers and whether replies are overdue. */
  #look(): void {
    const next = this.#pulse.look(this.waiting.size > 0);
    if (next === "ask") this.#beat();
    else if (next === "lost" && this.#socket) this.#drop(this.#socket);
    if (this.state === "open") for (const request of this.waiting.overdue()) this.#socket?.send(JSON.stringify(request));
  }

  #beat(within?: number): void {
    this.#pulse.asked(within);
    this.#beatAt = performance.now();
    this.#socket?.send(JSON.stringify({ type: "ping", id: this.newId() }));
  }

  readonly #offline = (): void => {
    if (this.state === "open") this.#beat(WHEN_OFFLINE); // the server may run on this machine
  };

  /** Reconnects at once when the network is back or the page becomes visible. */
  readonly #online = (): void => {
    if (this.#isClosed || this.state === "replaced" || document.visibilityState === "hidden") return;
    if (this.state === "open") this.#beat();
    else if (this.#socket === null && (this.state === "lost" || this.#who.device)) this.#dial();
  };

  async #hello(challenge: ChallengeNotice, socket: WebSocket): Promise<void> {
    if (isStale(challenge.pages)) {
      reloadOnce(challenge.pages);
      return;
    }
    if (this.#epoch !== challenge.epoch) this.#places.clear();
    this.#epoch = challenge.epoch;
    this.isDemonstration = challenge.demonstration;
    setClock(challenge.now);
    const { token, device, key } = this.#who;
    try {
      const proof = device && key ? { device, signature: await signature(device, key, challenge.nonce) } : {};
      if (socket !== this.#socket) return;
      const hello = { type: "hello", protocol: PROTOCOL_VERSION, ...(token ? { token: latestToken(token) } : {}), ...proof };
      this.welcome = await this.send<WelcomeReply>(hello as RequestBody);
    } catch (error) {
      if (error instanceof Refused) {
        this.#ended(error.reason, error.message);
        this.#drop(socket);
      }
      return;
    }
    clearTimeout(this.#timer);
    this.state = "open";
    this.#openedAt = performance.now();
    this.#pulse.begin();
    this.#looking = setInterval(() => this.#look(), LOOKS);
    const waiting = this.waiting.all();
    const asked = new Set(waiting.map((request) => (request.type === "follow" ? request.feed : null)));
    for (const request of waiting) this.#socket?.send(JSON.stringify(request));
    for (const feed of this.#wanted) if (!asked.has(feed)) this.#follow(feed).catch(() => undefined);
  }

  #hear(tell: AnyServerMessage, socket: WebSocket): void {
    if (tell.type === "challenge") void this.#hello(tell, socket);
    else if (tell.type === "pong") setClock(tell.now, performance.now() - this.#beatAt);
    else if (tell.type === "snapshot") this.#show(tell.feed, tell.number, tell.view, ["snapshot"]);
    else if (tell.type === "change") this.#change(tell);
    else if (tell.type === "end") this.#ended(tell.why, tell.message);
    this.waiting.answered(tell, this.welcome?.currency);
  }

  #ended(why: string, message: string): void {
    this.why = message;
    if (why === REPLACED) this.state = "replaced";
    if (NOT_LET_IN.includes(why) && (this.#who.token || this.#who.device)) this.state = "unknown";
  }

  #change(tell: ChangeNotice): void {
    const before = this.views.get(tell.feed);
    if (!before) return;
    if (tell.number !== (this.#places.get(tell.feed) ?? Number.NaN) + 1) {
      this.#places.delete(tell.feed); // a change was missed: start again from a snapshot
      this.#follow(tell.feed).catch(() => undefined);
      return;
    }
    this.#show(tell.feed, tell.number, changed(before, tell.changes), tell.what ?? []);
  }

  #show(feed: string, number: number, view: AnyView, what: readonly string[]): void {
    const before = this.views.get(feed);
    this.#places.set(feed, number);
    this.views.set(feed, view);
    for (const heard of this.#listeners.get(feed) ?? []) heard(what, view, before);
  }
}
