// The floor, as a page sees it: one connection that comes back by itself, feeds that are current or say that they
// are not, and asks of which each is answered.
import { SvelteMap } from "svelte/reactivity";
import { changed } from "./changes";
import { signature } from "./device";
import { Refused, Unanswered } from "./http";
import type {
  AnyAsk, AnyTell, AnyView, AnyCommand, TellChallenge, TellChange, TellWelcome,
} from "./messages";
import { isStale, reloadOnce } from "./upgrade";

const WIRE = 1;
const FIRST_WAIT = 250;
const LONGEST_WAIT = 5_000;

/** Who a page is to the floor: staff by a token, a device by its key; a visitor by neither. */
export interface Who {
  token?: string | undefined;
  device?: string | undefined;
  key?: CryptoKey | undefined;
}

export type State = "connecting" | "open" | "lost" | "unknown";
/** An ask without its id, which the connection gives. */
export type Asked = AnyAsk extends infer A ? (A extends { id: string } ? Omit<A, "id"> : never) : never;
type Heard = (what: readonly string[], view: AnyView, before: AnyView | undefined) => void;

interface Waiting {
  ask: AnyAsk;
  isSafe: boolean;
  done: (tell: AnyTell) => void;
  failed: (error: Error) => void;
}

export class Floor {
  state = $state<State>("connecting");
  /** Why the floor ended the connection, in its own words. */
  why = $state("");
  welcome = $state.raw<TellWelcome | null>(null);
  isDemonstration = $state(false);
  /** Milliseconds that the floor's clock is ahead of this device's. */
  ahead = $state(0);
  readonly views = new SvelteMap<string, AnyView>();

  readonly #who: Who;
  readonly #prefix = crypto.randomUUID().slice(0, 13);
  readonly #places = new Map<string, number>();
  readonly #wanted = new Set<string>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #listeners = new Map<string, Set<Heard>>();
  #socket: WebSocket | null = null;
  #epoch = "";
  #made = 0;
  #tries = 0;
  #isClosed = false;

  constructor(who: Who) {
    this.#who = who;
    this.#dial();
  }

  // Asking

  /** Asks, and comes back with the answer; a refusal is thrown. One that `isSafe` is asked again after a cut. */
  send<T extends AnyTell = AnyTell>(ask: Asked, { isSafe = false } = {}): Promise<T> {
    const whole = { ...ask, id: this.newId() } as AnyAsk;
    return new Promise<T>((done, failed) => {
      const waiting: Waiting = { ask: whole, isSafe, done: done as (tell: AnyTell) => void, failed };
      if (this.state !== "open" && whole.ask !== "hello" && !isSafe) {
        failed(new Unanswered());
        return;
      }
      this.#waiting.set(whole.id, waiting);
      if (this.state === "open" || whole.ask === "hello") this.#socket?.send(JSON.stringify(whole));
    });
  }

  /** Asks for a command at a table, or at the House. */
  do(table: string | null, command: AnyCommand, more: { approval?: string; isSafe?: boolean } = {}): Promise<AnyTell> {
    const { approval, isSafe = false } = more;
    const ask = { ask: "do", do: command, ...(table === null ? {} : { table }), ...(approval ? { approval } : {}) };
    return this.send(ask as Asked, { isSafe });
  }

  /** An id that nobody else has: of an ask, or of a bet. */
  newId(): string {
    this.#made += 1;
    return `${this.#prefix}-${this.#made}`;
  }

  // Following

  /** Follows a feed for as long as the page lives; its view is in `views` once this comes back. */
  async follow(feed: string, heard?: Heard): Promise<void> {
    if (heard) {
      const all = this.#listeners.get(feed) ?? new Set();
      this.#listeners.set(feed, all.add(heard));
    }
    this.#wanted.add(feed);
    await this.#follow(feed);
  }

  async unfollow(feed: string): Promise<void> {
    this.#wanted.delete(feed);
    this.#listeners.delete(feed);
    this.#places.delete(feed);
    this.views.delete(feed);
    if (this.state === "open") await this.send({ ask: "unfollow", feed });
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.close();
  }

  async #follow(feed: string): Promise<void> {
    const after = this.#places.get(feed);
    const since = after === undefined ? {} : { epoch: this.#epoch, after };
    await this.send({ ask: "follow", feed, ...since } as Asked, { isSafe: after === undefined });
  }

  // The connection

  #dial(): void {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket`);
    this.#socket = socket;
    socket.onmessage = (message) => {
      for (const tell of JSON.parse(String(message.data)) as AnyTell[]) this.#hear(tell);
    };
    socket.onclose = () => this.#cut(socket);
  }

  #cut(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    for (const [id, one] of [...this.#waiting]) {
      if (one.isSafe && !this.#isClosed) continue; // it is asked again, under the same id
      this.#waiting.delete(id);
      one.failed(new Unanswered());
    }
    if (this.#isClosed || this.state === "unknown") return;
    this.state = "lost";
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#tries) * (0.75 + Math.random() / 2);
    this.#tries += 1;
    setTimeout(() => this.#isClosed || this.#dial(), wait);
  }

  async #hello(challenge: TellChallenge): Promise<void> {
    if (isStale(challenge.pages)) {
      reloadOnce(challenge.pages);
      return;
    }
    if (this.#epoch !== challenge.epoch) this.#places.clear();
    this.#epoch = challenge.epoch;
    this.isDemonstration = challenge.demonstration;
    this.ahead = challenge.now - Date.now();
    const { token, device, key } = this.#who;
    try {
      const proof = device && key ? { device, signature: await signature(device, key, challenge.nonce) } : {};
      const hello = { ask: "hello", wire: WIRE, ...(token ? { token } : {}), ...proof };
      this.welcome = await this.send<TellWelcome>(hello as Asked);
    } catch (error) {
      if (error instanceof Refused) {
        this.why = error.message;
        this.state = "unknown";
      }
      return;
    }
    this.#tries = 0;
    this.state = "open";
    const waiting = [...this.#waiting.values()].map(({ ask }) => ask);
    const asked = new Set(waiting.map((ask) => (ask.ask === "follow" ? ask.feed : null)));
    for (const ask of waiting) this.#socket?.send(JSON.stringify(ask));
    for (const feed of this.#wanted) if (!asked.has(feed)) this.#follow(feed).catch(() => undefined);
  }

  #hear(tell: AnyTell): void {
    if (tell.tell === "challenge") void this.#hello(tell);
    else if (tell.tell === "snapshot") this.#show(tell.feed, tell.number, tell.view, ["snapshot"]);
    else if (tell.tell === "change") this.#change(tell);
    else if (tell.tell === "end") this.#ended(tell.why, tell.message);
    const re = "re" in tell ? tell.re : null;
    const waiting = re ? this.#waiting.get(re) : undefined;
    if (!re || !waiting) return;
    this.#waiting.delete(re);
    if (tell.tell === "refused") waiting.failed(new Refused(tell));
    else waiting.done(tell);
  }

  #ended(why: string, message: string): void {
    this.why = message;
    if (["slow", "resync", "stopping"].includes(why)) return; // it may come back, and does
    if (this.#who.token || this.#who.device) this.state = "unknown";
  }

  #change(tell: TellChange): void {
    const before = this.views.get(tell.feed);
    if (!before) return;
    if (tell.number !== (this.#places.get(tell.feed) ?? Number.NaN) + 1) {
      this.#places.delete(tell.feed); // something was missed: it starts from a snapshot
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
