// The house as a whole: the pit, the cage, the books, who works here.
import { both, clause, count, el, money, rows, show } from "/page/dom.js";
import { agreed } from "/page/console.js";
import { retold } from "/page/player.js";
import { keep, spent } from "/page/tickets.js";
import { http } from "/page/wire.js";
import { say } from "/page/words.js";

const button = (name, onclick, settings = {}) => el("button", { type: "button", onclick, ...settings }, say(name));

// What one side owes in transit is due to the other, so that all books together show what is still on the way.
function transit(view) {
  const of = (account) => view.books.reduce((sum, book) => sum + (book.accounts[account] || 0), 0);
  const [due, owed] = [of("in-transit-due"), of("in-transit-owed")];
  return due || owed ? el("p", { class: "small" }, say("transit", money(due), money(owed), money(due - owed))) : null;
}

export function books(view) {
  return el("div", { class: "panel" }, el("h3", {}, say("books"), " ", el("span", { class: view.balanced ? "won" : "lost", id: "balanced" }, `${say(view.balanced ? "balanced" : "off")}: ${money(view.sum)} ${view.currency}`)),
    view.off.map((one) => el("p", { class: "board" }, one)), transit(view),
    rows([say("of"), say("account"), say("balance")], view.books.flatMap((book) =>
      Object.entries(book.accounts).filter(([, amount]) => amount).map(([account, amount]) => [book.of || say("thehouse"), account, amount]))));
}

export function report(view) {
  const line = (one) => [one.table || "Σ", one.shift || one.day, one.drop, one.handle, one.win, count(one.hold_percent ? `${one.hold_percent}%` : "–"), count(one.rounds), count(one.void)];
  return el("div", { class: "panel" }, el("h3", {}, `${say("report2")} ${view.day}`),
    rows([say("table"), say("when"), say("drop"), say("handle"), say("win"), say("hold"), say("rounds"), say("void")], [...view.tables, ...view.totals].map(line)));
}

class Desk {
  constructor({ wire, table, tables, token, told, refused, go }) {
    Object.assign(this, { wire, table, tables, token, told, refused, go, found: {} });
    this.feeds = [];
  }

  async start() {
    for (const feed of this.feeds) await this.wire.follow(feed);
  }

  heard() {}

  async try(where, work) {
    try {
      const done = await work();
      this.told(done && done.ticket ? say("sold", done.ticket, money(done.amount)) : say("done"));
    } catch (error) {
      this.refused(error);
    }
    this.draw(where);
  }

  look(where, name, ask, part) {
    return this.try(where, async () => { this.found[name] = (await this.wire.send(ask))[part]; });
  }
}

export class Cashier extends Desk {
  constructor(given) {
    super(given);
    this.feeds = ["cage"];
    this.sold = [];
  }

  async sell(amount) {
    const done = await this.wire.send({ ask: "sell-ticket", amount });
    this.sold.unshift(done);
    keep(done);
    return done;
  }

  async redeem(ticket) {
    const done = await this.wire.send({ ask: "do", do: { command: "redeem-ticket", ticket } });
    spent(ticket);
    return done;
  }

  get use() { return "redeem"; }

  putIn(ticket, where) { return ticket ? this.try(where, () => this.redeem(ticket)) : this.told(say("noticket")); }

  async withSecond(ask) {
    return this.wire.send({ ...ask, approval: await agreed(ask, this.token) });
  }

  draw(where) {
    const view = this.wire.views.get("cage");
    if (!view) return;
    if (where.contains(document.activeElement) && ["INPUT", "SELECT"].includes(document.activeElement.tagName)) return;
    const amount = el("input", { type: "number", min: 1, step: "any", value: 100, id: "amount", "aria-label": say("amount") });
    const ticket = el("input", { type: "text", id: "redeem", placeholder: say("ticket"), "aria-label": say("ticket"), value: this.sold[0]?.ticket || "" });
    const table = el("select", { "aria-label": say("table") }, this.tables.map((one) => el("option", {}, one)));
    const minor = () => Math.round(Number(amount.value) * 100);
    show(where, el("div", { class: "split" },
      el("div", { class: "panel" }, el("h3", {}, say("cage")),
        el("div", { class: "sums" },
          el("div", {}, el("span", { class: "small" }, say("cash")), el("strong", {}, money(view.cash))),
          el("div", {}, el("span", { class: "small" }, say("outstanding")), el("strong", {}, money(view.outstanding)))),
        el("div", { class: "buttons" }, amount,
          button("sell", () => this.try(where, () => this.sell(minor())), { id: "sell" }),
          table, button("fill", () => this.try(where, () => this.withSecond({ ask: "fill", table: table.value, amount: minor() })))),
        el("div", { class: "buttons" }, ticket,
          button("redeem", () => this.putIn(ticket.value.trim(), where), { id: "redeem-it" })),
        this.sold.slice(0, 5).map((one) => el("p", { class: "small" }, say("sold", one.ticket, money(one.amount))))),
      el("div", { class: "panel" }, el("h3", {}, say("flights")),
        view.flights.length ? rows([say("table"), say("kind"), say("amount")], view.flights.map((one) => [one.table, one.kind, one.amount])) : el("p", { class: "small" }, say("noflights")),
        el("h3", {}, say("claims")), view.claims.flatMap((at) => at.claims.map((one) => el("p", {}, `${at.table} · ${one.id} · ${money(one.amount)} `,
          button("settle", () => this.try(where, () => this.withSecond({ ask: "settle-claim", table: at.table, claim: one.id })))))),
        el("div", { class: "buttons" }, button("books", () => this.look(where, "books", { ask: "books" }, "books"), { id: "books" }),
          button("report2", () => this.look(where, "report", { ask: "report" }, "report"))))),
    this.found.books ? books(this.found.books) : null, this.found.report ? report(this.found.report) : null);
  }
}

export class Auditor extends Desk {
  constructor(given) {
    super(given);
    this.feeds = ["cage"];
  }

  async start() {
    await super.start();
    await this.again();
  }

  async again() {
    this.found.books = (await this.wire.send({ ask: "books" })).books;
    this.found.report = (await this.wire.send({ ask: "report" })).report;
    this.found.rounds = (await this.wire.send({ ask: "rounds", table: this.table, most: 10 })).rounds;
  }

  draw(where) {
    const { found } = this;
    if (where.querySelector("details[open]") && this.isDrawn === found.rounds) return;
    this.isDrawn = found.rounds;
    show(where, el("div", { class: "buttons" }, button("refresh", () => this.try(where, () => this.again()))),
      found.books ? books(found.books) : null, found.report ? report(found.report) : null,
      found.rounds ? el("div", { class: "panel" }, el("h3", {}, `${say("everybets")} · ${this.table}`), found.rounds.map((round) => retold(round))) : null);
  }
}

export class Administrator extends Desk {
  async start() {
    this.found.staff = await http("GET", "/api/staff", { token: this.token });
    this.found.devices = await http("GET", "/api/devices", { token: this.token });
  }

  draw(where) {
    show(where,
      el("div", { class: "panel" }, el("h3", {}, say("staff")), rows([say("person"), say("rank"), say("session")], this.found.staff.map((one) => [one.person, say(one.rank), count(one.sessions)]))),
      el("div", { class: "panel" }, el("h3", {}, say("devices")), rows([say("device"), say("kind"), say("table"), say("seat"), say("key")], this.found.devices.map((one) => [one.device, say(one.kind), one.table, one.seat || "", `${one.key.slice(0, 12)}…`]))));
  }
}

// The pit, for those who rule: every table, and what waits for someone.
export function pit(view, go) {
  if (!view) return null;
  return el("div", { class: "panel" }, el("h3", {}, say("pit")),
    rows([say("table"), say("phase"), say("dealer"), say("stake"), say("worst"), say("referrals")], view.tables.map((one) => [
      el("button", { type: "button", onclick: () => go(one.name) }, one.name), `${both(one.label)} ${one.shut ? `· ${say("shutby", one.shut)}` : ""}`, one.dealer || "–", one.staked, one.worst,
      el("span", {}, one.referrals.length ? one.referrals.map((what) => el("div", {}, both(what.label), " → ", say(what.to), " ", clause(what.clause))) : say("none"))])),
    view.alarms.length ? [el("h3", {}, say("alarms")), view.alarms.map((one) => el("p", { class: "board" }, `${one.about}: `, both(one.says)))] : null,
    view.wins.length ? [el("h3", {}, say("largewins")), view.wins.map((one) => el("p", { class: "small" }, `${one.table} · ${say("round", one.round)} · ${say("seat")} ${one.seat} · ${money(one.won)}`))] : null);
}
