// The lobby: every table live, and one click into every role.
import { Console } from "/page/console.js";
import { el, show } from "/page/dom.js";
import { Administrator, Auditor, Cashier, pit } from "/page/house.js";
import { Player } from "/page/player.js";
import { card, display, tick } from "/page/tables.js";
import { drawTickets } from "/page/tickets.js";
import { Wire, deviceKey, http } from "/page/wire.js";
import { happened, language, say } from "/page/words.js";

const MOST_LINES = 80;
const PIT = ["pit-supervisor", "pit-manager", "casino-supervisor", "shift-manager"];
// Refusals whose message names sums, which the floor counts in minor units.
const OF_SUMS = ["stake-not-whole", "stake-not-positive", "beyond-greatest-sum", "winnings-not-whole", "under-minimum", "over-maximum", "credits-short", "exposure", "float-short"];
const by = (id) => document.getElementById(id);
const lines = [];
let demo = null;
let chosen = null;
let work = null;
let drawing = 0;

// Language and light

function dress() {
  const root = document.documentElement;
  root.lang = localStorage.getItem("taisai-language") || (navigator.language.startsWith("zh") ? "zh" : "en");
  const wanted = localStorage.getItem("taisai-theme");
  const isDark = wanted ? wanted === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "dark" : "light";
  by("language").textContent = say("language");
  by("theme").textContent = say(isDark ? "light" : "dark");
  by("money").textContent = say("money");
  by("state").textContent = say(by("state").className === "live" ? "live" : "away");
}

by("language").onclick = () => {
  localStorage.setItem("taisai-language", language() === "zh" ? "en" : "zh");
  dress();
  drawAll();
};
by("theme").onclick = () => {
  localStorage.setItem("taisai-theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  dress();
};

// Saying

function spoken(text, seconds, settings = {}) {
  for (const one of [...by("say").children]) if (one.textContent === text) one.remove();
  const line = el("p", settings, text);
  by("say").append(line);
  setTimeout(() => line.remove(), 1000 * seconds);
}

const told = (text) => spoken(text, text.length > 12 ? 12 : 3);
const refused = (error) => {
  const sums = OF_SUMS.includes(error.reason) ? ` ${say("minor")}` : "";
  spoken(`${say("refused", error.message)}${sums}`, 9, { class: "refused" });
};

// The tables

const lobby = new Wire({}, {
  told: (feed, _view, what, number) => {
    if (what.length && what[0] !== "snapshot") note(feed, what, number);
    redraw();
  },
  state: (isLive) => {
    by("state").className = isLive ? "live" : "";
    dress();
  },
});

function note(feed, what, number) {
  lines.unshift({ at: new Date().toLocaleTimeString(), feed, what, number });
  lines.length = Math.min(lines.length, MOST_LINES);
}

function redraw() {
  if (drawing) return;
  drawing = requestAnimationFrame(() => { drawing = 0; drawAll(); });
}

const go = (role, table) => { location.hash = table ? `${role}/${table}` : role; };

function drawAll() {
  if (!demo) return;
  drawTables();
  drawRoles();
  drawFeed();
  drawWork();
  drawTickets(by("tickets"), work?.desk.use, work?.desk.putIn && ((ticket) => work.desk.putIn(ticket, by("desk"))));
}

function drawTables() {
  const button = (word, role, table, main) => el("button", { type: "button", class: main ? "main" : "", onclick: () => go(role, table) }, say(word));
  show(by("tables"), demo.tables.map(({ table, dealer, dealing, ranks }) => {
    const view = lobby.views.get(`table:${table}`);
    if (!view) return null;
    const made = card(view, {
      note: dealing ? say("virtual", dealer) : say("human"),
      buttons: [button("play", "player", table, true), button("deal", "dealer", table), button("rule", ranks.at(-1), table), button("watch", "display", table)],
    });
    if (table === chosen) made.classList.add("chosen");
    return made;
  }));
}

function drawRoles() {
  const { ranks } = demo.tables.find((one) => one.table === chosen);
  const pick = el("select", { "aria-label": say("tables"), onchange: (event) => { chosen = event.target.value; drawAll(); } },
    demo.tables.map((one) => el("option", { value: one.table, selected: one.table === chosen }, one.table)));
  const button = (role, table) => el("button", { type: "button", "data-role": role, onclick: () => go(role, table) }, say(role));
  if (by("roles").contains(document.activeElement)) return;
  show(by("roles"), el("h2", {}, say("roles")),
    el("div", { class: "buttons" }, pick, ["player", ...ranks, "display"].map((role) => button(role, chosen))),
    el("div", { class: "buttons" }, el("span", { class: "small" }, say("house")), ["cashier", "auditor", "administrator"].map((role) => button(role, role === "auditor" ? chosen : null))));
}

function drawFeed() {
  show(by("feed"), el("h2", {}, say("feed")), el("ol", { id: "lines" }, lines.map((one) =>
    el("li", {}, el("time", {}, one.at), el("b", {}, one.feed.replace("table:", "")), el("span", { class: "number" }, `#${one.number}`), el("span", { title: one.what.join(", ") }, one.what.map(happened).join(say("between")))))));
}

// A role

function makeWork(role, table, entered, wire) {
  const given = { wire, table, role, token: entered.token, seat: entered.seat, told, refused, redraw, tables: demo.tables.map((one) => one.table), go: (to) => go(role, to) };
  if (role === "player") return new Player(given);
  if (role === "cashier") return new Cashier(given);
  if (role === "auditor") return new Auditor(given);
  if (role === "administrator") return new Administrator(given);
  if (role === "display") return { feeds: [`table:${table}`], start: () => wire.follow(`table:${table}`), heard() {}, draw: (where) => { const view = wire.views.get(`table:${table}`); if (view) display(where, view); } };
  return new Console(given);
}

async function enter(role, table) {
  const device = role === "player" || role === "display" ? await deviceKey() : null;
  const entered = await http("POST", "/api/demo/enter", { body: { role, ...(table ? { table } : {}), ...(device ? { key: device.open } : {}) } });
  const who = device ? { device: entered.device, key: device.key } : { token: entered.token };
  let desk = null;
  const wire = new Wire(who, {
    told: (feed, _view, what) => { if (desk) { desk.heard(feed, what); redraw(); } },
    state: (isLive, why) => { if (!isLive && work && work.wire === wire) told(why ? say("ended", why) : say("soon")); },
  });
  await wire.ready;
  desk = makeWork(role, table, entered, wire);
  await desk.start();
  if (PIT.includes(role)) await wire.follow("pit");
  return { role, table, desk, wire, name: entered.name, token: entered.token };
}

async function leave() {
  if (!work) return;
  const { desk, wire, token } = work;
  work = null;
  if (desk.leave) await desk.leave().catch(() => {});
  wire.close();
  if (token) await http("POST", "/api/sign-out", { token }).catch(() => {});
}

let routing = 0;

async function route() {
  const [role, table] = location.hash.slice(1).split("/");
  const place = (routing += 1);
  await leave();
  if (place !== routing) return;
  by("place").hidden = !role;
  show(by("place"));
  document.body.className = role ? `at-work ${role}` : "";
  if (!role) {
    await lookAround();
    drawAll();
    return;
  }
  if (table && demo.tables.some((one) => one.table === table)) chosen = table;
  try {
    const entered = await enter(role, table);
    if (place !== routing) {
      entered.wire.close();
      return;
    }
    await lookAround();
    work = entered;
    drawAll();
    scrollTo(0, 0);
  } catch (error) {
    refused(error);
    location.hash = "";
  }
}

function drawWork() {
  if (!work) return;
  const { role, table, desk, wire, name } = work;
  const at = by("place");
  if (!at.querySelector("#desk") || at.dataset.of !== `${role}/${table}/${language()}`) {
    at.dataset.of = `${role}/${table}/${language()}`;
    show(at, el("div", { class: "bar" }, el("h2", {}, `${say(role)}${table ? ` · ${table}` : ""}`), el("span", { class: "small" }, name),
      el("button", { type: "button", id: "leave", onclick: () => { location.hash = ""; } }, say("leave"))), el("div", { id: "pit" }), el("div", { id: "desk" }));
  }
  if (wire.views.get("pit")) show(at.querySelector("#pit"), pit(wire.views.get("pit"), (to) => go(role, to)));
  if (desk instanceof Console) desk.isDealing = demo.tables.find((one) => one.table === table).dealing;
  desk.draw(at.querySelector("#desk"));
}

// From the beginning

async function lookAround() {
  demo = await http("GET", "/api/demo");
  chosen = chosen || demo.tables[0].table;
}

async function begin() {
  dress();
  await lobby.ready;
  await lookAround();
  for (const { table } of demo.tables) await lobby.follow(`table:${table}`);
  drawAll();
  setInterval(() => { tick(document.body, lobby.views); }, 500);
  setInterval(() => lookAround().then(redraw).catch(() => {}), 4000);
  addEventListener("hashchange", route);
  if (location.hash.length > 1) await route();
}

begin().catch(refused);
