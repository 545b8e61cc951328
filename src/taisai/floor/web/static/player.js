// A Player Terminal: a seat, its credits, the felt as the floor draws it, and bets with one touch.
import { both, clause, dice, el, money, odds, oddsOf, rows, show } from "/page/dom.js";
import { card, litOf } from "/page/tables.js";
import { keep, spent } from "/page/tickets.js";
import { language, say } from "/page/words.js";

const BUYS = [10_000, 50_000, 200_000];
const GLYPHS = " ⚀⚁⚂⚃⚄⚅";
const LOOKED_BACK = 10;

export class Player {
  constructor({ wire, table, seat, told, refused, redraw }) {
    Object.assign(this, { wire, table, seat, told, refused, redraw, chip: null, rounds: null, felt: null });
    this.feeds = [`table:${table}`, `seat:${table}/${seat}`];
    this.field = el("input", { type: "text", name: "ticket", id: "ticket", autocomplete: "off" });
    this.parts = { now: el("div", { class: "part" }), list: el("div", { class: "part" }), past: el("div", { class: "part" }) };
    this.drawn = {};
    this.opened = new Set();
  }

  get view() { return this.wire.views.get(this.feeds[0]); }
  get mine() { return this.wire.views.get(this.feeds[1]); }

  async start() {
    for (const feed of this.feeds) await this.wire.follow(feed);
    if (!this.mine.taken) await this.sit();
    await this.lookAtFelt();
  }

  async sit() {
    const player = `${say("guest")} ${this.seat}`;
    await this.command("take-seat", { player, terminal: this.wire.welcome.name });
  }

  async lookAtFelt() {
    const layout = this.mine.layout || this.view.table.layout;
    this.felt = (await this.wire.send({ ask: "felt", table: this.table, layout })).felt;
    this.chip = this.chip || this.felt.denominations[0];
  }

  // Whoever goes takes his credits with him as a ticket, unless bets of his still stand.
  async leave() {
    if (!this.mine || !this.mine.taken || this.mine.at_risk) return;
    if (this.mine.credits) await this.ticketOut();
    await this.command("leave-seat", {}).catch(() => {});
  }

  command(name, fields) {
    return this.wire.do(this.table, { command: name, seat: this.seat, ...fields });
  }

  ask(name, fields = {}) {
    return this.wire.send({ ask: name, table: this.table, seat: this.seat, ...fields });
  }

  async try(work) {
    try {
      return await work();
    } catch (error) {
      this.refused(error);
      return null;
    }
  }

  get use() { return "ticketin"; }

  async ticketOut() {
    const done = await this.try(() => this.ask("ticket-out"));
    if (!done || !done.ticket) return;
    keep(done);
    this.told(say("sold", done.ticket, money(done.amount)));
    this.redraw();
  }

  async putIn(ticket) {
    if (!ticket) {
      this.told(say("noticket"));
      return;
    }
    if (!await this.try(() => this.ask("ticket-in", { ticket }))) return;
    spent(ticket);
    this.field.value = "";
    this.redraw();
  }

  lay(area) {
    const bets = [{ id: this.wire.bet(), area, stake: this.chip }];
    return this.try(() => this.command("place-bets", { round: this.view.round.number, bets }));
  }

  // The rounds in which the player had a bet; those that he only watched say nothing of him.
  async lookBack() {
    const told = await this.ask("rounds", { most: LOOKED_BACK });
    this.rounds = told.rounds.filter((round) => round.bets.length);
    this.redraw();
  }

  heard(feed, what) {
    if (feed === this.feeds[0] && what.includes("round-concluded") && this.rounds) this.lookBack().catch(() => {}); // what was found before stays
    if (feed === this.feeds[1] && this.felt && this.mine.layout && this.mine.layout !== this.felt.layout) this.lookAtFelt();
  }

  draw(where) {
    const { view, mine, felt } = this;
    if (!view || !mine || !felt) return;
    const { now, list, past } = this.parts;
    if (now.parentNode !== where) show(where, now, list, past);
    const isTyping = document.activeElement === this.field;
    show(now, el("div", { class: "split" }, card(view), this.purse(where)), el("div", { class: "felt-box" }, this.drawFelt()));
    if (isTyping) this.field.focus({ preventScroll: true });
    this.drawOnce("list", [felt, this.chip, language()], () => this.list());
    this.drawOnce("past", [this.rounds, language()], () => this.past());
  }

  // Whatever is the same as before is left alone, with what is open or chosen in it.
  drawOnce(name, of, made) {
    const before = this.drawn[name];
    if (before && of.every((one, place) => one === before[place])) return;
    this.drawn[name] = of;
    show(this.parts[name], made());
  }

  purse(where) {
    const { mine } = this;
    const button = (name, work, settings = {}) => el("button", { type: "button", onclick: work, ...settings }, say(name));
    this.field.placeholder = say("ticket");
    this.field.setAttribute("aria-label", say("ticket"));
    return el("div", { class: "panel purse" },
      el("div", { class: "sums" },
        el("div", {}, el("span", { class: "small" }, say("credits")), el("strong", { id: "credits" }, money(mine.credits))),
        el("div", {}, el("span", { class: "small" }, say("atrisk")), el("strong", { id: "at-risk" }, money(mine.at_risk)))),
      mine.last ? el("p", { class: mine.last.returned > mine.last.staked ? "small won" : "small" },
        say("lastround", mine.last.number, money(mine.last.staked), money(mine.last.returned))) : null,
      mine.withdrawal && mine.withdrew === null ? el("div", { class: "board" }, say("choose"), el("div", { class: "buttons" },
        button("withdraw", () => this.try(() => this.command("choose-withdrawal", { withdraw: true }))),
        button("stay", () => this.try(() => this.command("choose-withdrawal", { withdraw: false }))))) : null,
      mine.taken
        ? el("div", { class: "buttons" }, BUYS.map((amount) => el("button", {
          type: "button", onclick: () => this.try(() => this.command("buy-credits", { amount })),
        }, say("buy", money(amount)))))
        : el("div", { class: "buttons" }, button("sit", () => this.try(() => this.sit()))),
      el("div", { class: "buttons chips", role: "radiogroup", "aria-label": say("chip") }, this.felt.denominations.map((chip) =>
        el("button", {
          type: "button", role: "radio", "aria-checked": String(chip === this.chip), class: chip === this.chip ? "chip chosen" : "chip",
          onclick: () => { this.chip = chip; this.draw(where); },
        }, money(chip)))),
      el("div", { class: "buttons" },
        ["undo", "clear", "double", "repeat"].map((name) => button(name, () => this.try(() => this.ask(name))))),
      el("div", { class: "buttons" },
        button("ticketout", () => this.ticketOut()),
        this.field, button("ticketin", () => this.putIn(this.field.value.trim())),
        button("call", () => this.try(() => this.command("call-attendant", { subject: "call" }))),
        button("myrounds", () => this.try(() => this.lookBack()))));
  }

  stakes() {
    const found = new Map();
    for (const bet of this.mine.bets) found.set(bet.area, (found.get(bet.area) || 0) + bet.stake);
    return found;
  }

  drawFelt() {
    const { felt } = this;
    const stakes = this.stakes();
    const lit = new Set(litOf(this.view, felt.layout));
    const areas = new Map(felt.areas.map((area) => [area.id, area]));
    const isWide = felt.wide > 20;
    return el("div", { class: isWide ? "felt wide" : "felt", id: "felt" }, felt.cells.map((cell) => {
      const at = { ...cell, of: felt };
      const area = areas.get(cell.area);
      if (!area) return el("span", { class: "cell", at }, odds(cell.odds || ""));
      const stake = stakes.get(area.id);
      return el("button", {
        type: "button", at, "data-area": area.id,
        class: `cell area ${area.family} ${lit.has(area.id) ? "lit" : ""} ${stake ? "mine" : ""}`,
        title: `${both(area.label)} · ${oddsOf(area)} · ${both(area.wins)} · ${area.clause}`,
        "aria-label": `${both(area.label)}, ${oddsOf(area)}`,
        onclick: () => this.lay(area.id),
      }, el("b", {}, shortly(area)), el("small", { class: cell.tall * cell.wide > 1.4 ? "" : "tight" }, oddsOf(area, " · ")),
      stake ? el("span", { class: "stake" }, money(stake).replace(/\.00$/, "")) : null);
    }));
  }

  list() {
    const pick = el("select", { "aria-label": say("area") }, this.felt.areas.map((area) =>
      el("option", { value: area.id }, `${both(area.label)} — ${oddsOf(area)}`)));
    const settings = { class: "panel", open: this.isListOpen, ontoggle: (event) => { this.isListOpen = event.target.open; } };
    return el("details", settings, el("summary", {}, say("list")), el("div", { class: "buttons" }, pick,
      el("button", { type: "button", onclick: () => this.lay(pick.value) }, `${say("place")} ${money(this.chip)}`)),
    rows([say("area"), say("odds"), say("wins"), say("least"), say("most"), say("clause")], this.felt.areas.map((area) => [
      both(area.label), oddsOf(area), both(area.wins), area.least, area.most, area.clause])));
  }

  past() {
    if (!this.rounds) return null;
    return el("div", { class: "panel" }, el("h3", {}, say("myrounds")),
      this.rounds.length ? this.rounds.map((round) => retold(round, this.opened)) : el("p", { class: "small" }, say("norounds")));
  }
}

// What fits into a cell: dice for numbers, a figure for a total, else the label.
function shortly(area) {
  if (area.family === "total") return String(area.numbers[0]);
  if (area.numbers.length && area.numbers.length < 5) return area.numbers.map((face) => GLYPHS[face] || face).join("");
  return both(area.label);
}

// A round, with whatever bets of it one may see; `opened` remembers which ones are being read.
export function retold(round, opened = new Set()) {
  const ontoggle = (event) => { if (event.target.open) opened.add(round.number); else opened.delete(round.number); };
  return el("details", { class: "round", open: opened.has(round.number), ontoggle },
    el("summary", {}, dice(round.faces), ` ${say("round", round.number)} · `, round.void ? say("void") : round.total === null ? both(round.label) : say("total", round.total), ` · ${say("stake")} ${money(round.totals.staked)} · ${say("returned")} ${money(round.totals.returned)}`),
    round.incidents.map((one) => el("p", { class: "small" }, both(one.says), " ", clause(one.clause))),
    rows([say("seat"), say("area"), say("stake"), say("won"), say("returned"), say("state"), say("clause")], round.bets.map((bet) => [
      bet.seat, both(bet.label), bet.stake, bet.won, bet.returned, say(bet.state), bet.clause || ""])));
}
