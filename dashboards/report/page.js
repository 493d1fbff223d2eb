"use strict";
// Draws the charts one after the other, so that the page can be read meanwhile; texts from data are only set as text.
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent, unpacked);
  const drawings = [...document.querySelectorAll(".drawing")];
  const views = new Map();
  const options = { actions: false, renderer: "svg", tooltip: { theme: "report" } };
  const zoomed = new Map(); // the stretch that is shown, by range: charts of one range show the same one
  const shown = new WeakMap(); // the stretch that a drawing shows
  const seen = new Set();

  const over = (place) => charts[place.dataset.chart].over;
  const range = (place) => `${over(place).begin}-${over(place).end}`;

  // rows that `page.packed` wrote as columns and rows
  function unpacked(_, part) {
    if (!part?.columns || !part.rows) return part;
    return part.rows.map((row) => Object.fromEntries(part.columns.map((name, at) => [name, row[at]])));
  }

  async function draw(place) {
    try {
      const made = await vegaEmbed(place, charts[place.dataset.chart].spec, options);
      views.set(place, made.view);
      place.dataset.drawn = "yes";
      if (over(place).end) {
        place.classList.add("zoomable");
        show(place);
      }
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

  // -- the time that is shown: set in one chart, it holds for all of the same range; others follow when they are seen

  function show(place) {
    const view = views.get(place), to = zoomed.get(range(place));
    if (!view || !to || shown.get(place) === to) return;
    shown.set(place, to);
    view.signal("from", to[0]).signal("until", to[1]).runAsync();
  }

  function zoom(place, from, until) {
    zoomed.set(range(place), [from, until]);
    for (const one of seen) if (over(one).end && range(one) === range(place)) show(one);
  }

  const watching = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (isIntersecting) seen.add(target);
      else seen.delete(target);
      if (isIntersecting && over(target).end) show(target);
    }
  }, { rootMargin: "300px" });

  // -- pointing at a moment

  const at = document.createElement("div");
  at.id = "at";
  at.hidden = true;
  document.body.append(at);

  function plot(place) {
    const box = place.querySelector(".background").getBoundingClientRect();
    const [from, until] = zoomed.get(range(place)) || [over(place).begin, over(place).end];
    return { box, from, until };
  }

  function timeAt(place, event) {
    const { box, from, until } = plot(place);
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return from + share * (until - from);
  }

  function lineAt(place, time) {
    let line = place.querySelector(".moment");
    if (!line) {
      line = document.createElement("div");
      line.className = "moment";
      place.append(line);
    }
    const { box, from, until } = plot(place);
    const left = box.left - place.getBoundingClientRect().left;
    line.style.left = `${left + (box.width * (time - from)) / (until - from)}px`;
  }

  function worded(value, unit) {
    const number = value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) >= 1000 ? 6 : 4 });
    return unit ? `${number} ${unit}` : number;
  }

  function utc(ms) {
    return new Date(ms).toISOString().slice(0, 19).replace("T", " ").replace(/:00$/, "");
  }

  function valuesAt(place, time) {
    const { points } = charts[place.dataset.chart];
    const { step, bridge, units } = over(place);
    let low = 0, high = points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle][0] < time) low = middle + 1;
      else high = middle;
    }
    const reach = Math.max(step, bridge);
    return units.map((unit, series) => {
      for (let row = low; row < points.length && points[row][0] - time < reach; row += 1) {
        const value = points[row][series + 1];
        if (value !== null) return { end: points[row][0], text: worded(value, unit) };
      }
      return null;
    });
  }

  function describe(place, event, time) {
    at.replaceChildren();
    const found = valuesAt(place, time), keys = [...place.parentElement.querySelectorAll(".legend button")];
    const ends = found.filter(Boolean).map((one) => one.end);
    if (!ends.length) {
      at.hidden = true;
      return;
    }
    const head = document.createElement("p");
    head.textContent = `${utc(Math.min(...ends))} UTC`;
    const table = document.createElement("table");
    found.forEach((one, series) => {
      if (!one || !keys[series]) return;
      const row = table.insertRow(), name = row.insertCell(), value = row.insertCell();
      name.append(keys[series].querySelector(".swatch").cloneNode(), keys[series].dataset.series);
      value.className = "number";
      value.textContent = one.text;
    });
    at.append(head, table);
    at.hidden = false;
    const size = at.getBoundingClientRect();
    const right = event.clientX + 16 + size.width < innerWidth;
    at.style.left = `${right ? event.clientX + 16 : Math.max(0, event.clientX - size.width - 16)}px`;
    at.style.top = `${Math.max(0, Math.min(event.clientY + 16, innerHeight - size.height))}px`;
  }

  function point(place, event) {
    const time = timeAt(place, event);
    for (const one of seen) if (views.has(one) && over(one).end && range(one) === range(place)) lineAt(one, time);
    if (charts[place.dataset.chart].points.length) describe(place, event, time);
  }

  function leave() {
    at.hidden = true;
    for (const line of document.querySelectorAll(".moment")) line.remove();
  }

  function drag(place, down) {
    const from = timeAt(place, down), box = place.getBoundingClientRect();
    const stretch = document.createElement("div");
    stretch.className = "stretch";
    place.append(stretch);
    const move = (event) => {
      const [left, right] = [down.clientX, event.clientX].sort((a, b) => a - b);
      stretch.style.left = `${left - box.left}px`;
      stretch.style.width = `${right - left}px`;
    };
    const up = (event) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      stretch.remove();
      const [begin, end] = [from, timeAt(place, event)].sort((a, b) => a - b);
      if (Math.abs(event.clientX - down.clientX) > 5 && end - begin >= 1000) zoom(place, begin, end);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
  }

  for (const place of drawings) {
    watching.observe(place);
    if (!over(place).end) continue;
    const when = (act) => (event) => views.has(place) && act(place, event);
    place.addEventListener("pointermove", when(point));
    place.addEventListener("pointerleave", leave);
    place.addEventListener("pointerdown", when((one, event) => {
      if (event.pointerType === "mouse" && event.button === 0) drag(one, event);
    }));
    place.addEventListener("dblclick", when((one) => zoom(one, over(one).begin, over(one).end)));
  }

  // -- legends and tables

  function pick(button) {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", pressed);
    const legend = button.closest(".legend");
    const picked = [...legend.querySelectorAll("[aria-pressed=true]")].map((one) => one.dataset.series);
    legend.classList.toggle("picked", picked.length > 0);
    const view = views.get(legend.parentElement.querySelector(".drawing"));
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
    for (const [end, ...values] of charts[details.dataset.chart].points) {
      const row = body.insertRow();
      const time = row.insertCell();
      time.className = "time";
      time.dataset.head = "Until, UTC";
      time.textContent = new Date(end).toISOString().slice(0, 19).replace("T", " ");
      for (const value of values) {
        const cell = row.insertCell();
        cell.className = "number";
        cell.dataset.head = names[row.cells.length - 2];
        cell.textContent = value === null ? "\u2013" : value.toLocaleString("en", { maximumSignificantDigits: 6 });
      }
    }
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.append(table);
    details.append(scroll);
  }

  // A table that is wider than its place shows each row as lines of a name and a value: nothing is cut off.
  function fit() {
    const tables = [...document.querySelectorAll(".scroll")].filter((one) => one.clientWidth);
    for (const one of tables) one.classList.remove("stacked");
    const wide = tables.filter((one) => one.scrollWidth > one.clientWidth + 1);
    for (const one of wide) one.classList.add("stacked");
  }

  for (const button of document.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => pick(button));
  }
  for (const details of document.querySelectorAll("details.points")) {
    details.addEventListener("toggle", () => everyPoint(details));
  }
  let fitting = 0;
  function fitSoon() {
    cancelAnimationFrame(fitting);
    fitting = requestAnimationFrame(fit);
  }

  addEventListener("resize", fitSoon);
  document.addEventListener("toggle", fitSoon, true);
  fit();
  if (!matchMedia("(min-width: 75rem)").matches) document.querySelector("nav details").open = false;
  drawAll();
})();
