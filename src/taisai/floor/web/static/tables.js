// A table as everyone may see it.
import { both, clause, dice, el, money, show } from "/page/dom.js";
import { language, say } from "/page/words.js";

const MARKS = {
  en: { big: "B", small: "S", triple: "T", odd: "O", even: "E" },
  zh: { big: "大", small: "小", triple: "围", odd: "单", even: "双" },
};
const SHOWN = 18;

export const litOf = (view, layout) => view.lit[layout || view.table.layout] || [];

export function seconds(view) {
  const closes = view.countdown.closes_at;
  return closes === null ? null : Math.max(0, Math.ceil((closes - Date.now()) / 1000));
}

function clock(view) {
  const left = seconds(view);
  if (view.countdown.is_up) return el("span", { class: "clock soon" }, say("up"));
  if (left === null) return el("span", { class: "clock" });
  const word = view.countdown.prompt ? "prompts" : "closes";
  return el("span", { class: left <= 5 ? "clock soon" : "clock" }, say(word, left));
}

function board({ board: { shut, hold, says, clause: by, closed } }) {
  if (!shut && !hold && !closed) return null;
  return el("p", { class: "board" }, shut ? `${say("shutby", shut)} ` : "", both(says), " ", clause(by));
}

function results(view) {
  return el("ol", { class: "results", "aria-label": say("last") }, view.history.results.slice(-SHOWN).map((one) =>
    el("li", { class: one.void ? "void" : one.size || "", title: `${say("round", one.number)} ${(one.faces || []).join(" ")}` },
      one.void ? "×" : String(one.total))));
}

function road(name, runs) {
  if (!runs.length) return null;
  return el("div", { class: "roadbox" }, el("span", { class: "small" }, say(name)), el("div", { class: "road" },
    runs.slice(-SHOWN).map((run) => el("div", { class: "run" }, run.rounds.slice(-6).map((number) =>
      el("i", { class: run.mark, title: say("round", number) }, MARKS[language()][run.mark] || ""))))));
}

function drawOf({ draw }) {
  const seed = draw.revealed && el("div", {}, say("verify", draw.revealed.round), " ", el("code", {}, draw.revealed.seed));
  const bound = draw.commitment && el("div", {}, say("commit"), " ", el("code", {}, draw.commitment));
  return el("div", { class: "small draw" }, bound, seed);
}

// The whole of a table, in a card: a lobby's, or as large as a display.
export function card(view, { large = false, buttons = [], note = null } = {}) {
  const { round, dice: shown, table, limits } = view;
  const lit = litOf(view).length;
  return el("article", { class: large ? "card large" : "card", "data-table": table.name },
    el("header", {}, el("h2", {}, table.name), el("span", { class: "title" }, both(table.title)), clock(view)),
    el("p", { class: round.bets_open ? "notice open" : "notice" }, both(round.notice)),
    el("div", { class: "result" },
      dice(shown.faces, table.kind),
      el("div", {},
        el("strong", { class: "total" }, shown.total === null || shown.total === undefined ? "–" : say("total", shown.total)),
        el("div", { class: "small" }, round.number ? `${say("round", round.number)} · ${both(round.label)}` : say("noround")),
        el("div", { class: lit ? "small lit" : "small" }, lit ? say("lit", lit) : both(shown.source)))),
    board(view),
    results(view),
    el("div", { class: "roads" }, road("bigsmall", view.history.sizes), road("oddeven", view.history.parities)),
    el("p", { class: "small" }, `${say("limits", money(limits.least), money(limits.most))} ${table.currency}`, note ? ` · ${note}` : ""),
    table.stand_in ? el("p", { class: "small" }, both(table.stand_in)) : null,
    large ? drawOf(view) : null,
    buttons.length ? el("div", { class: "buttons" }, buttons) : null);
}

// The clocks of all cards, between one change and the next.
export function tick(root, views) {
  for (const shown of root.querySelectorAll(".card")) {
    const view = views.get(`table:${shown.dataset.table}`);
    const was = shown.querySelector(".clock");
    if (view && was) was.replaceWith(clock(view));
  }
}

export function display(where, view) {
  show(where, card(view, { large: true }));
}
