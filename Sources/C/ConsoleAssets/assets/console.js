// Speed and keys for pages that work without this file. It writes no HTML but whole fragments of the server.
"use strict";

const html = document.documentElement;
const policy = self.trustedTypes ? trustedTypes.createPolicy("console", { createHTML: (text) => text }) : null;
const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const stored = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
const store = (name, value) => { try { localStorage.setItem(name, value); } catch { /* Private windows. */ } };
// The texts are attributes of the element that announces them. It is empty again with the next key or click.
const announce = (name) => { const place = find("#announcement"); if (place) place.textContent = place.dataset[name] ?? ""; };

// Times in UTC, or in the person's time zone.
let isLocal = stored("zone") === "local";
const two = (number) => String(number).padStart(2, "0");
function showTimes(root = document) {
  // The clock of the times: a sandbox has its own, and a page that does not know it says nothing about distances.
  const now = Date.parse(find("[data-now]")?.dataset.now);
  const here = find("#announcement")?.dataset.here ?? "";
  for (const time of all("time[datetime]", root)) {
    time.dataset.utc ??= time.textContent;
    const date = new Date(time.dateTime);
    const local = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
    time.textContent = isLocal ? local : time.dataset.utc;
    const days = Math.round((date - now) / 86400000);
    const distance = Number.isNaN(days) ? [] : [new Intl.RelativeTimeFormat(html.lang, { numeric: "auto" }).format(days, "day")];
    time.title = [`${time.dataset.utc} UTC`, `${local} ${here}`, ...distance].join(" · ");
  }
  const zone = isLocal ? Intl.DateTimeFormat().resolvedOptions().timeZone : "UTC";
  for (const label of all("[data-zone]", root)) label.textContent = zone;
}
function switchZone() {
  isLocal = !isLocal;
  store("zone", isLocal ? "local" : "utc");
  showTimes();
  announce(isLocal ? "local" : "utc");
}

// Colours: the system's, or the person's choice.
if (stored("theme")) html.dataset.theme = stored("theme");
function switchTheme() {
  const isDark = html.dataset.theme ? html.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  html.dataset.theme = isDark ? "light" : "dark";
  store("theme", html.dataset.theme);
}

// Rows: roomy or compact.
if (stored("density")) html.dataset.density = stored("density");
function switchDensity() {
  html.dataset.density = html.dataset.density === "compact" ? "roomy" : "compact";
  store("density", html.dataset.density);
}

// Keys can be switched off, because programs for speech input press them.
let hasKeys = stored("keys") !== "off";
function switchKeys() {
  hasKeys = !hasKeys;
  store("keys", hasKeys ? "on" : "off");
  showKeys();
  announce(hasKeys ? "keysOn" : "keysOff");
}
function showKeys() {
  for (const button of all("[data-action=keys]")) button.setAttribute("aria-pressed", String(hasKeys));
}

// A page shows one moment. When its tab returns to the front, it asks whether events followed.
async function followUp() {
  const address = find("[data-changes]")?.dataset.changes;
  const bar = find(".stale");
  if (!address || !bar || document.hidden) return;
  try {
    const response = await fetch(address, { credentials: "same-origin" });
    const count = response.ok ? Number(await response.text()) : 0;
    if (!count) return;
    find("span", bar).textContent = count;
    bar.hidden = false;
  } catch { /* The next look asks again. */ }
}

// Live, the server announces events while the tab is in front, and the page loads what it shows.
let live = false;
let source = null;
let newest = 0;
let isFollowing = false;
const pause = 1000;
function listen() {
  const button = find("[data-live]");
  if (!live || !button || document.hidden) { source?.close(); source = null; return; }
  if (source) return;
  source = new EventSource(button.dataset.live);
  source.addEventListener("change", (event) => { newest = Math.max(newest, Number(event.data)); follow(); });
  source.addEventListener("end", () => switchLive(false));
  // The browser connects again after a lost connection, and not after a refusal.
  source.addEventListener("error", (event) => { if (event.target.readyState === EventSource.CLOSED) switchLive(false, "liveRefused"); });
}
// A page that loads again would lose the text in a field.
const isTyping = () => document.activeElement?.matches("main :is(input:not([type=range]), textarea, select)");
async function follow() {
  if (isFollowing) return;
  isFollowing = true;
  let next = Number(find("[data-live]")?.dataset.sequence ?? Infinity);
  while (live && newest > next && !document.hidden) {
    const loaded = newest;
    // Typing may begin meanwhile.
    if (!isTyping() && await show(location.pathname + location.search, () => !isTyping())) {
      next = loaded;
      announce("liveChanged");
    }
    await new Promise((done) => { setTimeout(done, pause); });
  }
  isFollowing = false;
}
function showLive() {
  for (const button of all("[data-action=live]")) button.setAttribute("aria-pressed", String(live));
}
function switchLive(isOn = !live, text = isOn ? "liveOn" : "liveOff") {
  live = isOn;
  showLive();
  announce(text);
  listen();
}
document.addEventListener("visibilitychange", () => { if (live) listen(); else followUp(); });

async function copy(text, what) {
  try { await navigator.clipboard.writeText(text); announce(what); } catch { announce("refused"); }
}
const ticket = () => find("[data-ticket]")?.dataset.ticket;
const place = () => location.origin + location.pathname;

// A plot that is wider than its box scrolls to the moment `x`.
function showMoment(x) {
  const plot = find(".plot");
  if (plot) plot.scrollLeft = x / 1160 * plot.scrollWidth - plot.clientWidth / 2;
}
// The slider moves the cursor at once, and fetches the figures of the moment.
function moved(input) {
  const output = find("#moment");
  const date = new Date(input.value * 1000);
  const share = (input.value - input.min) / (input.max - input.min);
  const x = 140 + share * 920;
  for (const cursor of all(".lanes .cursor")) {
    cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); cursor.removeAttribute("visibility");
  }
  showMoment(x);
  if (output) output.dataset.at = input.value;
  if (output) output.textContent = `${date.toISOString().slice(0, 10)} ${date.toISOString().slice(11, 16)} UTC`;
}
// Returns a function that finds the same element in a later version of the page.
function finder(element) {
  const name = ["id", "name", "href", "data-action"].find((attribute) => element.getAttribute(attribute));
  const selector = name ? `main [${name}="${CSS.escape(element.getAttribute(name))}"]` : `main ${element.localName}`;
  const same = () => all(selector).filter((other) => name || other.textContent === element.textContent);
  const index = same().indexOf(element);
  return () => same()[index] ?? same()[0];
}
const parsed = (text) => new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
// Shows a page, and keeps the focus, open details and typed text. Returns whether it is still wanted.
async function show(address, isWanted = () => true) {
  const main = find("main");
  main.ariaBusy = "true";
  try {
    const response = await fetch(address, { credentials: "same-origin" });
    const page = parsed(await response.text());
    if (!isWanted()) { main.ariaBusy = null; return false; }
    const typed = all("input:not([type=range], [type=hidden], [type=file]), textarea", main).filter((field) => field.value !== field.defaultValue)
      .map((field) => [finder(field), field.value]);
    const focused = main.contains(document.activeElement) ? finder(document.activeElement) : null;
    const opened = all("details[open] > summary", main).map(finder);
    const left = find(".plot")?.scrollLeft;
    for (const selector of ["main", ".moment", "#shown"]) {
      const [old, fresh] = [find(selector), find(selector, page)];
      if (old && fresh) old.replaceWith(fresh);
      else if (old) old.remove();
      else if (fresh) find("main").before(fresh);
    }
    html.className = page.documentElement.className;
    history.replaceState(null, "", address);
    begin();
    for (const summary of opened) { if (summary()) summary().parentElement.open = true; }
    for (const [field, text] of typed) { if (field()) field().value = text; }
    if (left) find(".plot")?.scrollTo(left, 0);
    focused?.()?.focus({ preventScroll: true });
  } catch { location.assign(address); }
  return true;
}
function step(direction) {
  const slider = find("input[name=at]");
  const moments = (find("#moments-of-events")?.dataset.moments ?? "").split(" ").filter(Boolean).map(Number);
  if (!slider || !moments.length) return;
  // The slider has steps; the moment of an event is exact.
  const at = Number(find("#moment").dataset.at);
  const next = direction < 0 ? moments.filter((moment) => moment < at).pop() : moments.find((moment) => moment > at);
  if (next === undefined) return;
  slider.value = next;
  moved(slider);
  find("#moment").dataset.at = next;
  submitMoment(slider.form, next);
}
// Of several moments, the last one is shown, whichever answer arrives last.
let turns = 0;
function submitMoment(form, at) {
  const turn = turns += 1;
  const query = new URLSearchParams(new FormData(form));
  if (at !== undefined) query.set("at", at);
  show(`${form.getAttribute("action")}?${query}`, () => turn === turns);
}

function begin() {
  showTimes();
  showKeys();
  showLive();
  listen();
  const slider = find("input[name=at]");
  if (slider) {
    slider.addEventListener("input", () => moved(slider));
    slider.addEventListener("change", () => submitMoment(slider.form));
    slider.form.addEventListener("submit", (event) => { event.preventDefault(); submitMoment(slider.form); });
  }
  for (const input of all("input[type=file][data-fills]")) {
    input.addEventListener("change", async () => { find(`#${input.dataset.fills}`).value = await input.files[0]?.text() ?? ""; });
  }
}

const actions = {
  zone: switchZone,
  theme: switchTheme,
  density: switchDensity,
  live: () => switchLive(),
  keys: switchKeys,
  copy: (button) => copy(button.dataset.copy, "text"),
  ticket: () => ticket() && copy(`${ticket()}\n${place()}`, "ticket"),
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (button) actions[button.dataset.action]?.(button);
  const id = !event.target.closest("a, button") && event.target.closest(".id[data-copy]");
  if (id) copy(id.dataset.copy, "id");
});

// The answer of a form takes the place of a part of this page.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-into]");
  if (!form) return;
  event.preventDefault();
  const place = find(`#${form.dataset.into}`);
  if (place.ariaBusy) return;
  place.ariaBusy = "true";
  try {
    const body = new URLSearchParams(new FormData(form));
    const response = await fetch(form.action, { method: "POST", body, credentials: "same-origin" });
    const fresh = find(`#${form.dataset.into}`, parsed(await response.text()));
    if (!fresh) throw new Error("no part");
    place.replaceChildren(...fresh.childNodes);
    place.ariaBusy = null;
    showTimes(place);
    place.focus();
  } catch { form.submit(); }
});

let prefix = "";
// Links in closed details have a place, but no focus.
const firstOf = (selector, root) => all(selector, root).find((element) => element.checkVisibility());
function row(direction) {
  const rows = all("tbody tr").filter((tr) => firstOf("a, summary", tr));
  const index = rows.findIndex((tr) => tr.classList.contains("selected"));
  rows[index]?.classList.remove("selected");
  const next = rows[Math.max(0, Math.min(rows.length - 1, index + direction))];
  next?.classList.add("selected");
  next && firstOf("a, summary", next).focus();
}
// The id of the selected row; without one, that of the page.
function idHere() {
  const row = find("tr.selected");
  if (!row) return find("h1 [data-copy], h1[data-copy]")?.dataset.copy;
  return find(".id[data-copy], a[data-copy]", row)?.dataset.copy ?? firstOf("a", row)?.textContent;
}
const keys = {
  "/": () => find(".find input")?.focus(),
  g: () => { prefix = "g"; },
  j: () => row(1),
  k: () => row(-1),
  a: () => find("[data-key-a]")?.click(),
  m: () => { const menu = find("details.more"); if (menu) { menu.open = !menu.open; find("a, button", menu)?.focus(); } },
  e: () => find(".card a[href*='explain=']")?.click(),
  o: () => find(".card a[href*='/evidence/']")?.click(),
  t: () => find("#timeline")?.scrollIntoView(),
  "[": () => step(-1),
  "]": () => step(1),
  l: switchZone,
  y: () => copy(location.href, "address"),
  ".": () => { const id = idHere(); id && copy(id, "id"); },
  "?": () => { const menu = find("details.person"); menu.open = true; for (const list of all(".keys")) list.hidden = false; find("summary", menu).focus(); },
};
// The focus of a menu that closes returns to its button.
function close() {
  for (const menu of all("details.person[open], details.more[open]")) {
    if (menu.contains(document.activeElement)) find("summary", menu).focus();
    menu.open = false;
  }
}
// A key that a button of the page names.
function pressed(key) {
  const button = find(`[data-press="${CSS.escape(key)}"]`);
  return button && (() => button.click());
}
document.addEventListener("pointerdown", () => announce(""));
document.addEventListener("keydown", (event) => {
  announce("");
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=range]), textarea, select")) return;
  if (event.key === "Escape") { close(); find("tr.selected")?.classList.remove("selected"); return; }
  if (!hasKeys) return;
  if (prefix === "g") {
    prefix = "";
    const link = find(`.frame nav a[data-key="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  const action = keys[event.key] ?? pressed(event.key);
  if (action) { event.preventDefault(); action(); }
});
begin();
// An action that takes several requests continues by itself.
find("form[data-continues]")?.requestSubmit();
