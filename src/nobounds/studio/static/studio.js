// Makes the forecast follow the form, and hides what a statistic does not need. Every page works without it.
"use strict";

const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const form = one("#plan") || one("#release");

function fit() {
  const statistic = one("#statistic").value;
  for (const part of all("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(statistic);
  const price = one("#price");
  if (price) price.textContent = `${one("#spending").value} ${one("#amount").value.trim()}`;
}

function slide() {
  const slider = one("#slider"), amount = one("#amount");
  one(".needs-script").hidden = false;
  const place = () => { const number = Number(amount.value); if (number > 0) slider.value = Math.log10(number); };
  place();
  amount.addEventListener("input", place);
  slider.addEventListener("input", () => {
    amount.value = Number((10 ** Number(slider.value)).toPrecision(2));
    amount.dispatchEvent(new Event("change", {bubbles: true}));
  });
}

// The curve: what is known for this form without its amount, by amount.
const known = new Map();
let waiting, running;

function formFields() {
  const fields = new URLSearchParams(new FormData(form));
  fields.delete("amount");
  return fields;
}

async function forecast(fields, amount, quick, signal) {
  const address = new URLSearchParams(fields);
  address.set("amount", amount);
  if (quick) address.set("quick", "1");
  const answer = await fetch(`/forecast?${address}`, {signal});
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
}

async function follow() {
  if (running) running.abort();
  running = new AbortController();
  const {signal} = running;
  const fields = formFields(), base = fields.toString(), amount = one("#amount").value.trim();
  if (!known.has(base)) known.set(base, new Map());
  const points = known.get(base);
  const said = one("#said");
  draw(points, Number(amount));
  busy();
  const slow = setTimeout(() => said.replaceChildren(paragraph("Working it out …")), 300);
  signal.addEventListener("abort", () => clearTimeout(slow));
  try {
    const errors = await forecast(fields, amount, false, signal);
    clearTimeout(slow);
    said.replaceChildren(errors.parts ? table(errors.parts) : paragraph(errors.sentence));
    if (errors.parts) return;
    points.set(Number(amount), errors);
    draw(points, Number(amount));
    for (const each of form.dataset.amounts.split(" ")) {
      if (points.has(Number(each))) continue;
      points.set(Number(each), await forecast(fields, each, true, signal));
      draw(points, Number(amount));
    }
  } catch (error) {
    clearTimeout(slow);
    if (error.name === "AbortError") return;
    said.replaceChildren(paragraph(error instanceof TypeError ? "The studio does not answer; was it ended?" : error.message));
    one("#curve").hidden = true;
  } finally {
    if (!signal.aborted) one("#forecast").removeAttribute("aria-busy");
  }
}

function busy() {
  one("#forecast").setAttribute("aria-busy", "true");
}

function paragraph(text) {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
}

function table(parts) {
  const made = document.createElement("table");
  const caption = made.createCaption();
  caption.textContent = "Each part of the summary, for its share of the cost";
  for (const part of parts) {
    const row = made.insertRow(), head = document.createElement("th");
    head.scope = "row";
    head.textContent = part.name;
    row.append(head);
    row.insertCell().textContent = part.sentence;
  }
  one("#curve").hidden = true;
  return made;
}

function shape(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function draw(points, now) {
  const figure = one("#curve"), svg = figure.querySelector("svg");
  const shown = [...points].filter(([, at]) => at.mean > 0 && at.most > 0).sort((a, b) => a[0] - b[0]);
  figure.hidden = shown.length < 2;
  if (figure.hidden) return;
  const log = Math.log10, left = 62, right = 425, top = 14, bottom = 250;
  const ends = (values) => { const low = Math.min(...values), high = Math.max(...values); return [log(low), Math.max(log(high), log(low) + 0.3)]; };
  const [x0, x1] = ends(shown.map(([amount]) => amount));
  const [y0, y1] = ends(shown.flatMap(([, at]) => [at.mean, at.most]));
  const x = (amount) => left + (right - left) * (log(amount) - x0) / (x1 - x0);
  const y = (error) => bottom - (bottom - top) * (log(error) - y0) / (y1 - y0);
  const parts = [];
  for (const tick of ticks(y0, y1)) {
    parts.push(shape("line", {class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick)}));
    parts.push(shape("text", {x: left - 8, y: y(tick) + 4, "text-anchor": "end"}, short(tick)));
  }
  for (const tick of ticks(x0, x1)) parts.push(shape("text", {x: x(tick), y: bottom + 20, "text-anchor": "middle"}, short(tick)));
  const spending = one("#spending").value;
  parts.push(shape("text", {x: (left + right) / 2, y: bottom + 42, "text-anchor": "middle"}, spending));
  for (const name of ["most", "mean"]) {
    parts.push(shape("polyline", {class: name, points: shown.map(([amount, at]) => `${x(amount)},${y(at[name])}`).join(" ")}));
  }
  if (now >= 10 ** x0 && now <= 10 ** x1) parts.push(shape("line", {class: "now", x1: x(now), x2: x(now), y1: top, y2: bottom}));
  const here = points.get(now);
  if (here && here.mean > 0) {
    parts.push(shape("circle", {class: "dot", cx: x(now), cy: y(here.mean), r: 5}));
    parts.push(shape("circle", {class: "dot of-most", cx: x(now), cy: y(here.most), r: 5}));
  }
  for (const [row, name, words] of [[0, "most", "95% of the time below"], [1, "mean", "on average"]]) {
    const height = top + 8 + 20 * row;
    parts.push(shape("line", {class: name, x1: right - 175, x2: right - 145, y1: height - 4, y2: height - 4}));
    parts.push(shape("text", {x: right - 138, y: height}, words));
  }
  svg.replaceChildren(...parts);
  one("#curve-words").textContent = `Error in value against ${spending}, both on logarithmic scales: on average (solid line), and what 95 of 100 releases stay below (dashed).`;
}

function ticks(low, high) {
  const values = [];
  for (let power = Math.floor(low); power <= high; power += 1) {
    for (const digit of high - low > 2.2 ? [1] : [1, 2, 5]) {
      const at = digit * 10 ** power;
      if (Math.log10(at) >= low - 1e-9 && Math.log10(at) <= high + 1e-9) values.push(at);
    }
  }
  return values;
}

function short(number) {
  return number >= 1e6 || number < 1e-3 ? number.toExponential(0) : String(Number(number.toPrecision(3)));
}

if (form) {
  fit();
  slide();
  form.addEventListener("input", fit);
  form.addEventListener("change", () => {
    fit();
    if (form.id !== "plan") return;
    clearTimeout(waiting);
    busy();
    waiting = setTimeout(follow, 250);
  });
}
if (form && form.id === "plan") {
  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.hasAttribute("formaction")) return;
    event.preventDefault();
    follow();
  });
  if (location.search) follow();
}
if (form && form.id === "release") {
  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.hasAttribute("formaction")) return;
    one("#working").textContent = "Charging the budget, then reading the data …";
    one(".spend").disabled = true;
  });
  window.addEventListener("pageshow", () => { one(".spend").disabled = one(".spend").hasAttribute("data-off"); });
}
const error = one("#error");
if (error) error.focus();
