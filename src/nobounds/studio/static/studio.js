// What the pages have besides their forms: search in long lists, fields that belong to a choice, a drop zone, and a word
// while the studio works. Every page does without.
"use strict";
const all = (what, inside = document) => [...inside.querySelectorAll(what)];

for (const box of all("[data-filter]")) {
  const rows = [...document.getElementById(box.dataset.filter).children];
  box.closest(".search").hidden = false;
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const named = (row.querySelector("th") || row).textContent.toLowerCase();
      row.hidden = !words.every((word) => named.includes(word));
    }
  });
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
}

function given(form, name) {
  const field = form.elements.namedItem(name);
  return field ? field.value : "";
}

function reveal() {
  for (const part of all(".reveal[data-if]")) {
    const [name, value] = part.dataset.if.split("=");
    const now = given(part.closest("form"), name);
    part.hidden = value === undefined ? !now : now !== value;
  }
}

reveal();
document.addEventListener("change", reveal);

const drop = document.getElementById("drop");
if (drop) {
  const input = drop.querySelector("input");
  const said = () => { document.getElementById("dropped").textContent = input.files.length ? `${input.files[0].name} is chosen.` : ""; };
  input.addEventListener("change", said);
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); input.files = event.dataTransfer.files; said(); });
}

for (const form of all("form")) {
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button || !button.dataset.busy) return;
    const working = form.querySelector(".working");
    if (working) working.textContent = button.dataset.busy;
    else button.textContent = button.dataset.busy;
    setTimeout(() => { button.disabled = true; });
  });
}
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

const first = document.querySelector("[aria-invalid=true]") || document.getElementById("refusal") || document.getElementById("error");
if (first) {
  for (let part = first.parentElement; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  first.focus();
}
