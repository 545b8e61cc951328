// The socket: asks with their answers, and feeds that are always current or start anew.
const WIRE = 1;
const bytes = (hex) => Uint8Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16));
const hex = (buffer) => Array.from(new Uint8Array(buffer), (one) => one.toString(16).padStart(2, "0")).join("");

export class Refused extends Error {
  constructor(tell) {
    super(tell.clause ? `${tell.message} (${tell.clause})` : tell.message);
    this.reason = tell.reason;
  }
}

// A view after its changes: a seat's bets come and go one by one, all else is told whole.
export function changed(view, changes) {
  const { cleared, gone, placed, ...parts } = changes;
  const next = { ...view, ...parts };
  if (view.of === "seat") {
    const lost = new Set(gone || []);
    next.bets = [...(cleared ? [] : view.bets).filter((bet) => !lost.has(bet.id)), ...(placed || [])];
  }
  return next;
}

export class Wire {
  constructor(who, { told = () => {}, state = () => {} } = {}) {
    this.who = who;
    this.views = new Map();
    this.told = told;
    this.state = state;
    this.places = new Map();
    this.waiting = new Map();
    this.made = 0;
    this.prefix = hex(crypto.getRandomValues(new Uint8Array(6)));
    this.tries = 0;
    this.isClosed = false;
    this.ready = new Promise((done, failed) => Object.assign(this, { done, failed }));
    this.ready.catch(() => {});
    this.dial();
  }

  dial() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = (this.socket = new WebSocket(`${scheme}://${location.host}/socket`));
    socket.onmessage = (message) => JSON.parse(message.data).forEach((tell) => this.hear(tell));
    socket.onclose = () => this.cut();
  }

  cut() {
    this.isIn = false;
    for (const { failed } of this.waiting.values()) failed(new Error("disconnected"));
    this.waiting.clear();
    if (this.isClosed) return;
    this.state(false, this.why);
    if (this.isUnknown) return;
    this.tries += 1;
    setTimeout(() => this.isClosed || this.dial(), Math.min(10_000, 300 * 2 ** this.tries));
  }

  close() {
    this.isClosed = true;
    this.socket.close();
  }

  async hello({ nonce, epoch }) {
    if (this.epoch !== epoch) this.places.clear();
    this.epoch = epoch;
    const ask = { ask: "hello", wire: WIRE };
    if (this.who.token) ask.token = this.who.token;
    if (this.who.device) {
      const says = new TextEncoder().encode(`taisai device 1\n${this.who.device}\n`);
      const text = new Uint8Array([...says, ...bytes(nonce)]);
      ask.device = this.who.device;
      ask.signature = hex(await crypto.subtle.sign("Ed25519", this.who.key, text));
    }
    try {
      this.welcome = await this.send(ask);
    } catch (error) {
      this.isUnknown = error instanceof Refused;
      this.failed(error);
      return;
    }
    this.isIn = true;
    this.tries = 0;
    this.state(true);
    for (const feed of this.views.keys()) this.follow(feed).catch(() => {});
    this.done(this.welcome);
  }

  hear(tell) {
    if (tell.tell === "challenge") this.hello(tell);
    else if (tell.tell === "snapshot") this.shown(tell, tell.view, ["snapshot"]);
    else if (tell.tell === "change") this.change(tell);
    else if (tell.tell === "end") this.why = tell.why;
    const waits = this.waiting.get(tell.re);
    if (!waits) return;
    this.waiting.delete(tell.re);
    if (tell.tell === "refused") waits.failed(new Refused(tell));
    else waits.done(tell);
  }

  change(tell) {
    const before = this.views.get(tell.feed);
    if (!before) return;
    if (tell.number !== this.places.get(tell.feed) + 1) {
      this.places.delete(tell.feed);
      this.follow(tell.feed).catch(() => {});
      return;
    }
    this.shown(tell, changed(before, tell.changes), tell.what || []);
  }

  shown(tell, view, what) {
    this.views.set(tell.feed, view);
    this.places.set(tell.feed, tell.number);
    this.told(tell.feed, view, what, tell.number);
  }

  // Asks, and comes back with the answer; a refusal is thrown.
  send(ask) {
    const id = `${this.prefix}-${(this.made += 1)}`;
    const answer = new Promise((done, failed) => this.waiting.set(id, { done, failed }));
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ ...ask, id }));
    else this.waiting.get(id).failed(new Error("disconnected"));
    return answer;
  }

  follow(feed) {
    if (!this.views.has(feed)) this.views.set(feed, null);
    const after = this.places.get(feed);
    return this.send({ ask: "follow", feed, ...(after === undefined ? {} : { epoch: this.epoch, after }) });
  }

  do(table, command) {
    return this.send({ ask: "do", table, do: command });
  }

  bet() {
    return `${this.prefix}-b${(this.made += 1)}`;
  }
}

// Over HTTP, in JSON.
export async function http(method, path, { body, token } = {}) {
  const headers = { Accept: "application/json" };
  if (body) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  const told = await answer.json();
  if (!answer.ok) throw new Refused(told);
  return told;
}

// The page's own device key: made once, kept for as long as its tab.
export async function deviceKey() {
  const kept = sessionStorage.getItem("taisai-key");
  if (kept) {
    const { jwk, open } = JSON.parse(kept);
    return { key: await crypto.subtle.importKey("jwk", jwk, "Ed25519", false, ["sign"]), open };
  }
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const open = hex(await crypto.subtle.exportKey("raw", pair.publicKey));
  const jwk = await crypto.subtle.exportKey("jwk", pair.privateKey);
  sessionStorage.setItem("taisai-key", JSON.stringify({ jwk, open }));
  return { key: pair.privateKey, open };
}
