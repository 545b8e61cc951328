// The Game Console: what may be done now, and by which clause, is what the floor offers.
import { both, clause, dice, el, money, rows, show, signed } from "/page/dom.js";
import { card } from "/page/tables.js";
import { http } from "/page/wire.js";
import { say } from "/page/words.js";

export class Console {
  constructor({ wire, table, role, token, told, refused }) {
    Object.assign(this, { wire, table, role, token, told, refused, faces: [], preview: null, open: null, typed: {} });
    this.feeds = [`table:${table}`, `console:${table}`];
    this.isDealing = null;
  }

  get view() { return this.wire.views.get(this.feeds[0]); }
  get desk() { return this.wire.views.get(this.feeds[1]); }

  async start() {
    await this.wire.send({ ask: "take-position", table: this.table, position: this.role });
    for (const feed of this.feeds) await this.wire.follow(feed);
  }

  heard(_feed, what) {
    if (what.includes("result-entered") || what.includes("bets-opened")) Object.assign(this, { faces: [], preview: null });
  }

  async try(work) {
    try {
      const done = await work();
      this.told(done && done.again ? say("again") : say("done"));
      return done;
    } catch (error) {
      this.refused(error);
      return null;
    }
  }

  // Sends a command; where a second person has to agree, a virtual supervisor is asked first.
  async command(command, needsSecond) {
    const ask = { ask: "do", table: this.table, do: command };
    if (needsSecond) ask.approval = await agreed(ask, this.token);
    return this.wire.send(ask);
  }

  draw(where) {
    const { view, desk } = this;
    if (!view || !desk) return;
    const focus = document.activeElement;
    if (where.contains(focus) && ["INPUT", "SELECT", "TEXTAREA"].includes(focus.tagName)) return; // whoever types is not disturbed
    show(where,
      el("div", { class: "split" },
        el("div", {}, card(view), this.virtual(), this.reading(where), this.keys(where)),
        this.acts(where)),
      this.referrals(), this.irregularities(where), this.facts());
  }

  virtual() {
    const flip = (dealing) => this.try(async () => {
      await this.wire.send({ ask: "virtual", table: this.table, dealing });
      this.isDealing = dealing;
    });
    if (this.isDealing === null) return null;
    return el("div", { class: "panel" }, el("p", { class: "small" }, say(this.isDealing ? "dealing" : "paused")),
      el("button", { type: "button", id: "virtual", onclick: () => flip(!this.isDealing) }, say(this.isDealing ? "pause" : "resume")));
  }

  reading(where) {
    const { reading } = this.desk;
    if (!reading) return null;
    return el("div", { class: "panel reading" }, el("p", {}, say("reading"), " ", reading.faces ? dice(reading.faces, this.view.table.kind) : both(reading.label)),
      reading.faces ? el("button", { type: "button", id: "take-over", onclick: () => this.look(where, reading.faces) }, say("take")) : null,
      reading.suggested ? el("p", { class: "small" }, both(reading.suggested.label), " ", clause(reading.suggested.clause)) : null);
  }

  result() {
    return this.desk.acts.find((offer) => offer.command === "perform" && offer.preset.act === "enter-result");
  }

  // Three keys, then a look at what they would do, then the commit.
  keys(where) {
    const offer = this.result();
    if (!offer || !offer.by.includes(this.role)) return null;
    const press = (face) => (this.faces.length < 2 ? (this.faces.push(face), this.draw(where)) : this.look(where, [...this.faces.slice(0, 2), face]));
    const { preview } = this;
    return el("div", { class: "panel keys" }, el("h3", {}, say("preview"), " ", clause(offer.clause)),
      el("div", { class: "buttons" }, [1, 2, 3, 4, 5, 6].map((face) => el("button", { type: "button", class: "key", "data-face": face, onclick: () => press(face) }, String(face)))),
      el("p", {}, this.faces.length ? dice([...this.faces, 0, 0].slice(0, 3), this.view.table.kind) : ""),
      preview ? [
        el("p", { class: "small" }, say("wouldlight", (preview.lit[this.view.table.layout] || []).length, money(preview.returned), signed(-preview.house.loses))),
        preview.differs ? el("p", { class: "board" }, say("differs")) : null,
        el("button", {
          type: "button", class: "main", id: "commit",
          onclick: () => this.try(() => this.command({ command: "perform", act: "enter-result", faces: preview.faces }, needsSecond(offer))),
        }, say("commitit", preview.faces.join(" ")))] : null);
  }

  async look(where, faces) {
    try {
      this.preview = (await this.wire.send({ ask: "preview", table: this.table, faces })).preview;
      this.faces = [...faces];
    } catch (error) {
      this.refused(error);
    }
    this.draw(where);
  }

  acts(where) {
    const offers = this.desk.acts.filter((offer) => offer !== this.result());
    return el("div", { class: "panel acts" }, el("h3", {}, say("acts")), offers.map((offer, place) => this.offer(where, offer, `act-${place}`)));
  }

  offer(where, offer, id) {
    const isMine = offer.by.includes(this.role);
    const blanks = offer.blanks.filter((blank) => blank.kind !== "second");
    const key = `${offer.command} ${JSON.stringify(offer.preset)}`;
    const isOpen = this.open === key;
    const send = (fields) => this.try(async () => {
      const done = await this.command({ command: offer.command, ...offer.preset, ...fields }, needsSecond(offer));
      this.open = null;
      return done;
    });
    return el("div", { class: "act" },
      el("button", {
        type: "button", disabled: !isMine, class: offer.main ? "main" : "", "data-act": offer.preset.act || offer.command, id,
        title: isMine ? offer.clause : say("notyours", offer.by.map((rank) => say(rank)).join(", ")),
        onclick: () => { if (blanks.length) { this.open = isOpen ? null : key; this.draw(where); } else send({}); },
      }, both(offer.label)), " ", clause(offer.clause),
      isMine ? null : el("span", { class: "small" }, ` ${say("notyours", offer.by.map((rank) => say(rank)).join(", "))}`),
      isOpen ? form(offer.blanks, this.defaults(), send) : null);
  }

  defaults() {
    const { least, most, groups } = this.view.limits;
    const day = new Date(Date.parse(`${this.desk.day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
    return { limits: { least, most, groups }, day, counts: [0, 0, 0, 0, 0, 0], bets: {}, odds: {}, areas: [] };
  }

  referrals() {
    const { referrals } = this.desk;
    if (!referrals.length) return null;
    return el("div", { class: "panel board" }, el("h3", {}, say("referrals")), referrals.map((one) =>
      el("p", {}, both(one.label), one.seat ? ` · ${say("seat")} ${one.seat}` : "", one.round ? ` · ${say("round", one.round)}` : "", " → ", say(one.to), " ", clause(one.clause))));
  }

  irregularities(where) {
    return el("details", { class: "panel", open: this.isWrongOpen, ontoggle: (event) => { this.isWrongOpen = event.target.open; } },
      el("summary", {}, say("irregular")),
      el("ul", { class: "wrong" }, this.desk.irregularities.map((one) => {
        const key = `report ${one.id}`;
        const isMine = one.by.includes(this.role);
        const blanks = one.blanks.filter((blank) => blank.kind !== "second");
        const send = (fields) => this.try(() => this.command({ command: "report", event: one.id, ...fields }, needsSecond(one)));
        return el("li", { "data-event": one.id }, el("b", {}, both(one.label)), " → ", both(one.says), one.to ? ` (${say(one.to)})` : "", " ", clause(one.clause), " ",
          el("button", { type: "button", disabled: !isMine, onclick: () => { if (blanks.length) { this.open = this.open === key ? null : key; this.draw(where); } else send({}); } }, say("report")),
          this.open === key ? form(one.blanks, this.defaults(), send) : null);
      })));
  }

  facts() {
    const { risk, people, equipment, seats, shoe } = this.desk;
    const { kind } = this.view.table;
    const sum = (name, figure, shown) => el("div", {}, el("span", { class: "small" }, say(name), shown ? [" ", shown] : null), el("strong", {}, figure));
    return el("div", { class: "split" },
      el("div", { class: "panel" }, el("h3", {}, say("risk")), risk
        ? el("div", { class: "sums" },
          sum("stake", money(risk.staked)), sum("bets", String(risk.bets)),
          risk.bets ? [sum("worst", signed(-risk.worst.loses), dice(risk.worst.faces, kind)), sum("best", signed(-risk.best.loses), dice(risk.best.faces, kind))] : null)
        : say("none"), shoe ? el("p", { class: "small" }, say("shoe", shoe.left, shoe.cards)) : null,
      el("h3", {}, say("people")), el("ul", { class: "small" }, people.map((one) => el("li", {}, `${one.name} · ${both(one.label)}`))),
      el("h3", {}, say("equipment")), el("ul", { class: "small" }, equipment.map((one) =>
        el("li", { class: one.placed && !one.failed ? "" : "off" }, both(one.label), one.serial ? ` · ${one.serial}` : "", " ", clause(one.clause))))),
      el("div", { class: "panel" }, el("h3", {}, `${say("seats")} (${seats.taken})`),
        rows([say("seat"), say("player"), say("credits"), say("atrisk")], seats.shown.map((one) => [one.seat, one.player, one.credits, one.at_risk]))));
  }
}

const needsSecond = (offer) => offer.blanks.some((blank) => blank.kind === "second");

// In a demonstration a virtual supervisor agrees at once; elsewhere a second person proves who he is.
export async function agreed(ask, token) {
  return (await http("POST", "/api/demo/agree", { body: { ask }, token })).approval;
}

// The blanks of an offer: each in the form that its kind has.
function form(blanks, defaults, send) {
  const fields = [];
  const made = el("form", {
    class: "blanks",
    onsubmit: (event) => {
      event.preventDefault();
      const filled = {};
      for (const { blank, read } of fields) {
        const value = read();
        if (value !== undefined) filled[blank.field] = value;
      }
      send(filled);
    },
  });
  for (const blank of blanks) {
    const [input, read] = field(blank, defaults);
    if (read) fields.push({ blank, read });
    made.append(el("label", {}, both(blank.label), " ", input));
  }
  made.append(el("button", { type: "submit" }, say("send")));
  return made;
}

function field(blank, defaults) {
  const optional = (value) => (value === "" && blank.optional ? undefined : value);
  if (blank.kind === "second") return [el("em", {}, say("second")), null];
  if (blank.kind === "faces") {
    const keys = [0, 1, 2].map(() => el("select", {}, [blank.optional ? "" : null, 1, 2, 3, 4, 5, 6].filter((one) => one !== null).map((face) => el("option", { value: face }, String(face)))));
    return [el("span", {}, keys), () => (keys.some((key) => key.value === "") ? undefined : keys.map((key) => Number(key.value)))];
  }
  if (blank.kind === "whole") {
    const input = el("input", { type: "number", min: blank.least, max: blank.most, value: blank.optional ? "" : blank.choices[0]?.value ?? blank.least, required: !blank.optional });
    return [input, () => (input.value === "" ? undefined : Number(input.value))];
  }
  if (blank.kind === "yes-no") {
    const input = el("select", {}, blank.optional ? el("option", { value: "" }, "–") : null, el("option", { value: "yes" }, "✓"), el("option", { value: "no" }, "✗"));
    return [input, () => (input.value === "" ? undefined : input.value === "yes")];
  }
  if (blank.kind === "choice") {
    const input = el("select", {}, blank.optional ? el("option", { value: "" }, "–") : null, blank.choices.map((one) => el("option", { value: one.value }, both(one.label))));
    return [input, () => optional(input.value)];
  }
  if (blank.kind === "text") {
    const input = el("input", { type: "text", maxlength: blank.most, required: !blank.optional, value: defaults[blank.field] || "" });
    return [input, () => optional(input.value)];
  }
  const input = el("textarea", { rows: 2, spellcheck: "false" });
  input.value = blank.optional ? "" : JSON.stringify(defaults[blank.kind] ?? {});
  return [input, () => (input.value === "" ? undefined : JSON.parse(input.value))];
}
