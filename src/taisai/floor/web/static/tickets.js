// Tickets that this tab was given: a code outlives the seat that it came from.
import { el, money, show } from "/page/dom.js";
import { say } from "/page/words.js";

const KEPT = "taisai-tickets";
const MOST = 20; // as many as can be read; the oldest make room

export const tickets = () => JSON.parse(sessionStorage.getItem(KEPT) || "[]");

const write = (all) => sessionStorage.setItem(KEPT, JSON.stringify(all));

export function keep({ ticket, amount }) {
  write([{ ticket, amount }, ...tickets().filter((one) => one.ticket !== ticket)].slice(0, MOST));
}

export function spent(ticket) {
  write(tickets().filter((one) => one.ticket !== ticket));
}

// The tickets; where whoever is at work can take one, `use` is the word for it and `put` does it.
export function drawTickets(where, use, put) {
  const all = tickets();
  where.hidden = !all.length;
  show(where, el("h2", {}, say("tickets")),
    all.map(({ ticket, amount }) => el("div", { class: "buttons" }, el("code", {}, ticket), el("strong", {}, money(amount)),
      put ? el("button", { type: "button", id: `put-${ticket}`, onclick: () => put(ticket) }, say(use)) : null)),
    put ? null : el("p", { class: "small" }, say("ticketuse")));
}
