// What every part of the page is made of. Text is only ever set as text.
import { language } from "/page/words.js";

export function el(tag, settings = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name === "at") place(made, value);
    else if (value === true) made.setAttribute(name, "");
    else made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((one) => one !== null && one !== undefined && one !== false));
  return made;
}

// Where something lies on a felt, in shares of its size.
function place(made, { x, y, wide, tall, of }) {
  made.style.left = `${(100 * x) / of.wide}%`;
  made.style.top = `${(100 * y) / of.tall}%`;
  made.style.width = `${(100 * wide) / of.wide}%`;
  made.style.height = `${(100 * tall) / of.tall}%`;
}

// Shows something anew; whoever stands on something with an id stays there.
export function show(where, ...children) {
  const focus = document.activeElement;
  const stays = where.contains(focus) ? focus.id : "";
  where.replaceChildren(...children.flat().filter(Boolean));
  if (stays) document.getElementById(stays)?.focus({ preventScroll: true });
}

// A text in both languages, as the floor sends it.
export const both = (words) => (words ? words[language()] || words.en : "");

// Nothing is 0.00, whichever side it comes from.
export const money = (minor) =>
  ((minor || 0) / 100).toLocaleString(language() === "zh" ? "zh-CN" : "en", { minimumFractionDigits: 2 });

export const signed = (minor) => `${minor > 0 ? "+" : minor < 0 ? "−" : ""}${money(Math.abs(minor))}`;

// Odds as the floor writes them, in the reader's language.
export const odds = (text) => (language() === "zh" ? text.replace(/([\d.]+) to 1\b/g, "1 赔 $1") : text);

export const oddsOf = (area, between = ", ") => area.odds.map((one) => odds(one.text)).join(between);

const SVG = "http://www.w3.org/2000/svg";
const PIPS = {
  1: [[1, 1]],
  2: [[0, 0], [2, 2]],
  3: [[0, 0], [1, 1], [2, 2]],
  4: [[0, 0], [2, 0], [0, 2], [2, 2]],
  5: [[0, 0], [2, 0], [1, 1], [0, 2], [2, 2]],
  6: [[0, 0], [2, 0], [0, 1], [2, 1], [0, 2], [2, 2]],
};

function drawn(tag, settings, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(settings)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// One die, or one card that shows the face of a die; without a face, what lies covered.
export function die(face, kind = "dice") {
  const tall = kind === "cards" ? 44 : 32;
  const pips = (PIPS[face] || []).map(([x, y]) =>
    drawn("circle", {
      cx: 8 + 8 * x, cy: tall / 2 - 8 + 8 * y, r: face === 1 ? 4.2 : 2.8,
      class: face === 1 || face === 4 ? "pip red" : "pip",
    }));
  const frame = drawn("rect", { x: 1, y: 1, width: 30, height: tall - 2, rx: 5, class: face ? "die" : "die covered" });
  const picture = drawn("svg", { viewBox: `0 0 32 ${tall}`, class: `face ${kind}`, role: "img" }, frame, ...pips);
  picture.setAttribute("aria-label", face ? String(face) : "?");
  return picture;
}

export const dice = (faces, kind) => el("span", { class: "dice" }, (faces || [0, 0, 0]).map((face) => die(face, kind)));

export const clause = (text) => (text ? el("span", { class: "clause" }, text) : null);

// A figure of a table that is no money.
export const count = (value) => ({ count: String(value) });

const isFigure = (cell) => typeof cell === "number" || cell?.count !== undefined;

// A table: numbers are money; a head stands over its figures.
export function rows(heads, lines, settings = {}) {
  const kind = (cell) => ({ class: isFigure(cell) ? "figure" : undefined });
  return el("div", { class: "scroll" }, el("table", settings,
    el("thead", {}, el("tr", {}, heads.map((head, place) => el("th", { scope: "col", ...kind(lines[0]?.[place]) }, head)))),
    el("tbody", {}, lines.map((line) => el("tr", {}, line.map((cell) =>
      el("td", kind(cell), typeof cell === "number" ? money(cell) : cell?.count ?? cell)))))));
}
