"use strict";
// Draws the charts one after the other, so that the page can be read meanwhile; texts from data are set as text alone.
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const drawings = [...document.querySelectorAll(".drawing")];
  const views = new Map();
  const options = { actions: false, renderer: "svg", tooltip: { theme: "report" } };

  async function draw(place) {
    try {
      const made = await vegaEmbed(place, charts[place.dataset.chart].spec, options);
      views.set(place.dataset.chart, made.view);
      place.dataset.drawn = "yes";
    } catch (error) {
      place.dataset.drawn = "no";
      place.textContent = `This chart could not be drawn: ${error.message}. Its numbers are below.`;
    }
  }

  async function drawAll() {
    for (const place of drawings) {
      await draw(place);
      await new Promise((next) => setTimeout(next));
    }
    document.documentElement.dataset.drawn = views.size;
  }

  function pick(button) {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", pressed);
    const figure = button.closest("figure");
    const picked = [...figure.querySelectorAll("[aria-pressed=true]")].map((one) => one.dataset.series);
    figure.classList.toggle("picked", picked.length > 0);
    const view = views.get(figure.querySelector(".drawing").dataset.chart);
    if (view) view.signal("picked", picked).runAsync();
  }

  function everyPoint(details) {
    if (details.querySelector("table")) return;
    const figure = details.closest("figure");
    const names = [...figure.querySelectorAll(".legend button")].map((one) => one.dataset.series);
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of ["Until, UTC", ...names]) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = name;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const [at, ...values] of charts[details.dataset.chart].points) {
      const row = body.insertRow();
      const time = row.insertCell();
      time.className = "time";
      time.textContent = new Date(at).toISOString().slice(0, 19).replace("T", " ");
      for (const value of values) {
        const cell = row.insertCell();
        cell.className = "number";
        cell.textContent = value === null ? "\u2013" : value.toLocaleString("en", { maximumSignificantDigits: 6 });
      }
    }
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.append(table);
    details.append(scroll);
  }

  for (const button of document.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => pick(button));
  }
  for (const details of document.querySelectorAll("details.points")) {
    details.addEventListener("toggle", () => everyPoint(details));
  }
  addEventListener("beforeprint", () => {
    for (const verdict of document.querySelectorAll(".verdict")) verdict.open = true;
  });
  if (!matchMedia("(min-width: 75rem)").matches) document.querySelector("nav details").open = false;
  drawAll();
})();
