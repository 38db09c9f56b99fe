"use strict";
// charts.js - numbers as text, elements of a page, and charts.
//
// Positions across a chart are percentages of its width and positions down are pixels, so that it fills any width while its
// letters keep their size. Colours are classes of style.css: s0 to s4 fill parts, p0 to p2 points. A mark with a data-tip
// tells its name and value to a pointer; a table with the same numbers is beside each chart.

// ----- numbers: narrow spaces, which do not break lines, between thousands and before units -----

const SPACE = "\u202f";
const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];
const TIME_UNITS = ["ns", "\u00b5s", "ms", "s"];
const PREFIXES = ["", "K", "M", "G", "T"];

const count = (value) => Math.round(value).toLocaleString("en", { useGrouping: true }).replaceAll(",", SPACE);
const fixed = (value, decimals) => (Number.isFinite(value) ? value.toFixed(decimals) : "-");
const plural = (value, name) => `${count(value)} ${name}${value === 1 ? "" : "s"}`;

function withUnit(value, units, write) {
  let unit = 0;
  for (; value >= 999.5 && unit + 1 < units.length; unit++) value /= 1000;
  return write(value) + (units[unit] && SPACE + units[unit]);
}

// Three digits.
const scaled = (value, units) => withUnit(value, units, (v) => v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0));
const bytes = (value) => (!Number.isFinite(value) ? "-" : value < 999.5 ? value.toFixed(0) + SPACE + "B" : scaled(value, BYTE_UNITS));
const time = (ns) => (Number.isFinite(ns) ? scaled(ns, TIME_UNITS) : "-");

// Three digits with a prefix from 100,000 on.
function rounded(value) {
  if (!Number.isFinite(value)) return "-";
  if (value > 0 && value < 0.05) return "<" + SPACE + "0.1";
  if (value >= 99999.5) return scaled(value, PREFIXES);
  return value < 99.95 && !Number.isInteger(value) ? value.toFixed(1) : count(value);
}

function percent(part) {
  const value = 100 * part;
  if (!Number.isFinite(value)) return "-";
  if (value > 0 && value < 0.05) return "<" + SPACE + "0.1" + SPACE + "%";
  if (value >= 9999.5) return rounded(part) + SPACE + "\u00d7";
  return value.toFixed(value < 99.95 ? 1 : 0) + SPACE + "%";
}

// Labels of axes, as short as possible.
const tick = (value) => withUnit(value, PREFIXES, (v) => String(Number(v.toPrecision(3))));
const timeTick = (ns) => withUnit(ns, TIME_UNITS, (v) => String(Number(v.toPrecision(3))));
const percentTick = (part) => (100 * part).toFixed(part > 0 && part < 0.01 ? 1 : 0) + SPACE + "%";

// ----- elements -----

const SVG_NAMES = ["svg", "text", "tspan", "line", "rect", "circle"];

// Texts among the children stay texts, whatever is in them.
function make(name, attributes, ...children) {
  const made = SVG_NAMES.includes(name) ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== ""));
  return made;
}

const paragraph = (...children) => make("p", {}, ...children);
const code = (...parts) => make("code", {}, ...parts);

function section(id, title, ...children) {
  return make("section", { id, "aria-labelledby": id + "-h" }, make("h2", { id: id + "-h" }, title), ...children);
}

// The first column has names, the others numbers. A narrow window scrolls it. Rows may be in groups.
function table(caption, columns, ...groups) {
  const cells = (row) => row.map((cell, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, cell));
  return make("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 },
    make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, columns.map((column) => make("th", { scope: "col" }, column)))),
      groups.map((rows) => make("tbody", {}, rows.map((row) => make("tr", {}, cells(row)))))));
}

const fold = (summary, ...children) => make("details", {}, make("summary", {}, summary), ...children);
const foldedTable = (caption, columns, rows) => fold(caption, table(caption, columns, rows));

function legend(...keys) {
  return make("ul", { class: "legend" }, keys.map(([name, text]) =>
    make("li", {}, make("svg", { width: 12, height: 12, "aria-hidden": true },
      make("rect", { width: 12, height: 12, rx: 3, class: name })), text)));
}

// ----- axes: they give the place of a value, from 0 to 1 -----

const bounded = (part) => (part > 1 ? 1 : part > 0 ? part : 0); // 0 also if it is no number

// From 0 to a round number that is at least max. Ticks are 1, 2 or 5 times a power of ten apart.
function linear(max, format) {
  const range = max > 0 && Number.isFinite(max) ? max : 1, power = 10 ** Math.floor(Math.log10(range / 5));
  const step = power * [1, 2, 5, 10].find((times) => range / 5 <= times * power * 1.000001);
  const steps = Math.ceil(range / step - 1e-9), end = step * steps;
  return { format, ticks: Array.from({ length: steps + 1 }, (_, i) => i * step), place: (v) => bounded(v / end) };
}

// From one power of ten to another.
function logarithmic(min, max, format) {
  const first = Math.floor(Math.log10(min) + 1e-9), last = Math.max(Math.ceil(Math.log10(max) - 1e-9), first + 1);
  const every = Math.ceil((last - first) / 6), ticks = [];
  for (let i = first; i <= last; i += every) ticks.push(10 ** i);
  return { format, ticks, place: (v) => bounded((Math.log10(Math.max(v, 10 ** first)) - first) / (last - first)) };
}

// ----- parts of charts -----

const across = (part) => (100 * part).toFixed(2) + "%";
const label = (x, y, kind, text, more = {}) => make("text", { x: across(x), y, class: kind, ...more }, text);
const line = (x1, y1, x2, y2, kind) => make("line", { x1: across(x1), y1, x2: across(x2), y2, class: kind });

function bar(x, y, width, height, kind, tip) {
  return make("rect", { x: across(x), y: y.toFixed(1), width: across(width), height: height.toFixed(1), rx: 1.5, class: kind,
    "data-tip": tip });
}

function dot(x, y, r, kind, tip) {
  return make("circle", { cx: across(x), cy: y.toFixed(1), r, class: kind, "data-tip": tip });
}

// `title` is for people who do not see the chart; `name` is that of the axis across.
function plot(title, name, kind, bottom, ...marks) {
  return make("svg", { class: "plot" + kind, height: bottom + 40, role: "img", "aria-label": title + ". A table has the numbers." },
    ...marks, label(0.5, bottom + 34, "axis mid", name));
}

const gridAcross = (axis, top, bottom) => axis.ticks.map((value) => [line(axis.place(value), top, axis.place(value), bottom, "grid"),
  label(axis.place(value), bottom + 16, "tick mid", axis.format(value))]);

const gridUp = (axis, top, bottom) => axis.ticks.map((value) => {
  const y = bottom - (bottom - top) * axis.place(value);
  return [line(0, y, 1, y, "grid"), make("text", { x: -8, y: y + 4, class: "tick end" }, axis.format(value))];
});

// ----- charts -----

const ROW = 40; // pixels of a row: its name above its bar

// Stacked bars: rows of { name, total, parts: [name, class, value] }. A line at `mark` crosses each, if it is above 0.
function barChart(title, name, rows, max, mark) {
  const axis = linear(max, tick), bottom = rows.length * ROW + 4;
  return plot(title, name, " rows", bottom, gridAcross(axis, 0, bottom), rows.map((row, i) => {
    let sum = 0;
    return [label(0, i * ROW + 14, "name", [row.name + " ", make("tspan", { class: "value" }, row.total)]),
      row.parts.map(([part, kind, value]) => {
        const from = axis.place(sum);
        sum += value;
        return bar(from, i * ROW + 20, axis.place(sum) - from, 16, kind, `${part}: ${rounded(value)}`);
      }),
      mark > 0 ? line(axis.place(mark), i * ROW + 17, axis.place(mark), i * ROW + 39, "mark") : []];
  }));
}

// Bars of { part, tip, label } beside each other. `label` is at the beginning of a bar, or below its middle if `centred`;
// `end` is behind the last one. `dot`, up to dotMax, has an axis at the right.
function histogram(title, name, kind, bins, { centred = false, end = "", dotMax = 0, height = 160 } = {}) {
  const top = 8, bottom = top + height, width = 1 / bins.length, axis = linear(Math.max(...bins.map((bin) => bin.part)), percentTick);
  const up = (part) => bottom - height * part;
  const dotTicks = Array.from({ length: Math.ceil(dotMax / 5) }, (_, i) => 1 + 5 * i);
  return plot(title, name, "", bottom, gridUp(axis, top, bottom),
    bins.map((bin, i) => {
      const tall = Math.max(height * axis.place(bin.part), 1);
      return [bin.part > 0 ? bar(width * (i + 0.08), bottom - tall, width * 0.84, tall, kind, bin.tip) : [],
        bin.dot > 0 ? dot(width * (i + 0.5), up(bin.dot / dotMax), 2.5, "dot", bin.dotTip) : [],
        bin.label ? label(width * (i + (centred ? 0.5 : 0)), bottom + 16, "tick mid", bin.label) : []];
    }),
    end ? label(1, bottom + 16, "tick mid", end) : [],
    dotTicks.map((value) => label(1, up(value / dotMax) + 4, "tick", String(value), { dx: 8 })),
    line(0, bottom, 1, bottom, "base"));
}

// Rows of { name, low, high, max, expected }: a bar from low to high, a whisker to max, a line at expected.
function rangeChart(title, name, rows) {
  const min = Math.min(...rows.flatMap((row) => [row.low, row.expected]));
  const max = Math.max(1, ...rows.flatMap((row) => [row.max, row.expected]));
  const axis = logarithmic(Math.min(Math.max(min, 0.01), max), max, tick), bottom = rows.length * ROW + 4;
  return plot(title, name, " rows", bottom, gridAcross(axis, 0, bottom), rows.map((row, i) => {
    const middle = i * ROW + 28, [low, high, most, expected] = [row.low, row.high, row.max, row.expected].map(axis.place);
    return [label(0, i * ROW + 14, "name", row.name), line(high, middle, most, middle, "whisker"),
      bar(Math.min(low, 0.994), middle - 6, Math.max(high - low, 0.006), 12, "s0",
        `half: up to ${rounded(row.low)}; 99 of 100: up to ${rounded(row.high)}`),
      dot(most, middle, 3.5, "p0", `most: ${rounded(row.max)}`), line(expected, middle - 10, expected, middle + 10, "mark")];
  }));
}

// Points of { x, y, kind, tip, name, isBelow, isOnLine }, those with a name larger. A name below a point stays free of
// points that are better ones, at the lower left.
function pointChart(title, name, points, xAxis, yAxis) {
  const top = 16, bottom = 276, x = (point) => xAxis.place(point.x), y = (point) => bottom - (bottom - top) * yAxis.place(point.y);
  const frontier = points.filter((point) => point.isOnLine);
  const draw = (point) => {
    const isBefore = x(point) > 0.7 || (point.isBelow && x(point) > 0.2);
    const base = point.isBelow ? Math.min(y(point) + 18, bottom - 5) : y(point) - 10;
    return [dot(x(point), y(point), point.name ? 6 : 4, point.kind, point.tip),
      point.name ? label(x(point), base, isBefore ? "label end" : "label", point.name, { dx: isBefore ? -6 : 6 }) : []];
  };
  const isAbove = (point) => point.isOnLine || point.name;
  return plot(title, name, "", bottom, gridAcross(xAxis, top, bottom), gridUp(yAxis, top, bottom),
    frontier.slice(1).map((point, i) => line(x(frontier[i]), y(frontier[i]), x(point), y(point), "frontier")),
    points.filter((point) => !isAbove(point)).map(draw), points.filter(isAbove).map(draw));
}

// ----- what a pointer is over -----

function showTips() {
  const tip = make("div", { id: "tip", hidden: "" });
  document.body.append(tip);
  document.addEventListener("pointerover", (event) => {
    const text = event.target.dataset?.tip;
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const mark = event.target.getBoundingClientRect(), box = tip.getBoundingClientRect();
    const left = mark.left + mark.width / 2 - box.width / 2;
    tip.style.left = Math.max(4, Math.min(left, document.documentElement.clientWidth - box.width - 4)) + "px";
    tip.style.top = (mark.top > box.height + 8 ? mark.top - box.height - 6 : mark.bottom + 6) + "px";
  });
}
