// sections.js - the parts of a page, from the numbers in the block `data`; tools/report/page.c writes them. A function
// returns an element, or nothing if its part has nothing to show.

const data = JSON.parse(document.getElementById("data").textContent);
const words = data.bits / 64;
const item = words > 1 ? "word" : "fingerprint"; // what a table holds
const SYMBOLS = 33, MAX_CODE_BITS = 11, MAX_OPEN_TABLES = 20;

const sum = (values) => values.reduce((total, value) => total + value, 0);
const tablesOf = (group) => data.tables.slice(group.first, group.first + group.tables);
const tableName = (index) => (words > 1 ? `${index}, word\u00a0${data.tables[index].word}` : count(index));
const groupName = (group, i) => (words > 1 ? `Word ${i}, ${plural(group.tables, "table")}` : `Table ${i}`);
const longTable = (caption, columns, rows) => (rows.length > MAX_OPEN_TABLES ? foldedTable : table)(caption, columns, rows);

// The bytes that records take without any store: a fingerprint, and 8 for an id.
const rawBytes = () => (data.ids ? (data.bits / 8 + 8) * data.records : (data.bits / 8) * data.distinct);
const rawText = () => `raw: ${data.bits / 8 + (data.ids ? 8 : 0)} bytes a ${data.ids ? "record" : "fingerprint"}`;

function logGamma(x) { // Stirling's series, which is good from 10 on
  let shift = 0;
  for (; x < 10; x++) shift -= Math.log(x);
  return shift + (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5);
}

// The fewest bits for each of so many different numbers, if they are only stored as a set: log2 of the number of sets,
// which is nearly (2^bits)^number / number!.
const setBoundBits = (bits, number) => (number > 0 ? bits - logGamma(number + 1) / Math.LN2 / number : 0);

// ----- head -----

function heading() {
  const sampled = data.isSampled ? "sampled" : "uniform";
  const [title, second] = data.kind === "report"
    ? [data.name, `${data.path} \u00b7 ${words > 1 ? data.bits + " bits, " : ""}distance ${data.distance}, ` +
        `${plural(data.tableCount, "table")}, ${data.ids ? "with" : "without"} ids \u00b7 recipe: ${data.recipe || "not recorded"}`]
    : [`${count(data.records)} records${words > 1 ? ` of ${data.bits} bits` : ""}, distance ${data.distance}`,
        `${data.ids ? "with" : "without"} ids, for ${sampled} fingerprints`];
  document.title = `sstore ${data.kind}: ${title}`;
  return [make("p", { class: "kind" }, "sstore " + data.kind), make("h1", {}, title), make("p", { class: "second" }, second)];
}

const figures = (...rows) => make("section", { class: "figures", "aria-label": "Key figures" },
  make("dl", {}, rows.map(([name, value, note]) =>
    make("div", {}, make("dt", {}, name), make("dd", { class: "big" }, value), make("dd", {}, note)))));

// The answer that most readers look for.
function nearFigure() {
  const { isSample, sampled, near, records, count: clusters } = data.clusters;
  if (isSample)
    return ["Near-duplicates", near > 0 ? percent(near / Math.max(sampled, 1)) : "none seen",
      `of ${count(sampled)} sampled fingerprints have one within ${data.distance} bits; --clusters finds all`];
  return ["Near-duplicates", count(records - clusters),
    `could be removed, of ${count(records)} in ${plural(clusters, "cluster")} within ${data.distance} bits`];
}

// Why a record takes so many bytes: the tables, and the ids; of several words also other parts.
function bytesNote() {
  const each = (total, decimals) => (total / data.records < 1000 ? fixed : rounded)(total / data.records, decimals);
  const { fingerprints, tables, ranks, ids } = data.sizes;
  const parts = words > 1 ? `fingerprints ${each(fingerprints, 1)}, tables ${each(tables, 1)}, ranks ${each(ranks, 1)}`
    : `${plural(data.tableCount, "table")} of ${each(tables / data.tableCount, 2)}`;
  return parts + (data.ids ? `; ids ${each(ids, 2)}` : "");
}

function timeFigure() {
  const { misses, hits } = data.queries ?? { misses: { count: 0 }, hits: { count: 0 } };
  if (misses.count + hits.count === 0) return [];
  const note = misses.count === 0 ? "median with a match"
    : "median without a match" + (hits.count > 0 ? `; ${time(hits.median)} with one` : "");
  return [["Time of a query", time(misses.count > 0 ? misses.median : hits.median), note]];
}

function storeFigures() {
  const { records, distinct } = data, each = data.sizes.total / records;
  const sizes = records === 0 ? [] : [
    ["Bytes per record", each < 1000 ? fixed(each, 1) : rounded(each), bytesNote()],
    ["Of raw records", percent(data.sizes.total / rawBytes()), rawText()]];
  const exactly = records < 1e6 ? "" : count(records) + ", ";
  return figures(nearFigure(),
    ["Records", records < 1e6 ? count(records) : rounded(records), `${exactly}${count(distinct)} distinct`],
    ["Size", bytes(data.sizes.total), `${count(data.sizes.total)} bytes`], ...sizes, ...timeFigure());
}

// ----- clusters -----

// The digits that differ from those of another fingerprint stand out. Four words a line.
function fingerprintCell(hex, first) {
  const digits = [...hex].map((digit, i) => (digit === first[i] ? digit : make("b", {}, digit)));
  return code(digits.flatMap((digit, i) => (i > 0 && i % 64 === 0 ? ["\n", digit] : [digit])));
}

// Each cluster is a group of rows.
function exampleTable(title) {
  const { examples, named } = data.clusters;
  return make("div", { class: "examples" }, table(title, ["records", "fingerprint", "distance to the first", named ? "name" : "id"],
    ...examples.map(({ size, records }) => records.map((record, i) => [i === 0 ? count(size) : "",
      fingerprintCell(record.fingerprint, records[0].fingerprint), count(record.distance), record.id]))));
}

function sampledClusters() {
  const { sampled, near } = data.clusters;
  return section("clusters", "Near-duplicates in a sample",
    paragraph(`The store is large, so only ${count(sampled)} of its fingerprints, taken at random, were compared with all records: ` +
      `${near > 0 ? count(near) : "none"} of them have another record within ${data.distance} bits. `,
      code("sstore report --clusters"), " finds all, and ", code("sstore clusters"), " lists them."),
    near > 0 ? exampleTable("Those with the most records around them, and up to five of these") : []);
}

function clusterSection() {
  const { isSample, count: clusters, records, sizes } = data.clusters;
  if (isSample) return sampledClusters();
  const title = "Clusters of near-duplicates";
  if (clusters === 0) return section("clusters", title, paragraph(`No record has a near-duplicate within distance ${data.distance}.`));
  const bins = sizes.slice(1, 1 + sizes.findLastIndex(([number]) => number > 0)), every = Math.ceil(bins.length / 6);
  const name = (i) => (i === 0 ? "2, 3" : rounded(2 ** (i + 1)));
  const size = (i) => `${count(2 ** (i + 1))} to ${count(2 ** (i + 2) - 1)}`;
  return section("clusters", title,
    paragraph(`${count(records)} of ${count(data.records)} records are in ${plural(clusters, "cluster")}: each record differs from ` +
      `another one of its cluster in at most ${data.distance} bits. One record of each cluster can stay, and ` +
      `${count(records - clusters)} can be removed.`),
    exampleTable("The largest clusters, with up to five records of each"),
    make("h3", {}, "Records by the size of their cluster"),
    histogram("Records by the size of their cluster", "records of a cluster, from this number on", "s0",
      bins.map(([, number], i) => ({
        part: number / records, tip: `${size(i)}: ${percent(number / records)}`, label: i % every === 0 && name(i) })),
      { centred: true }),
    foldedTable("Clusters by size", ["size", "clusters", "records", "of these records"],
      bins.map(([number, members], i) => [size(i), count(number), count(members), percent(members / records)])));
}

// ----- queries -----

// Bins of both kinds are drawn over the same decades.
function timesChart(latency, title, kind, first, last) {
  const each = data.queries.binsPerDecade, bins = latency.bins.slice(first * each, last * each), every = Math.ceil((last - first) / 5);
  return latency.count === 0 ? [] : make("div", {}, make("h3", {}, title),
    histogram("Times " + title.toLowerCase(), "time of a query", kind, bins.map((number, i) => ({
      part: number / latency.count, tip: `from ${timeTick(10 ** (first + i / each))} on: ${percent(number / latency.count)}`,
      label: i % (each * every) === 0 && timeTick(10 ** (first + i / each)) })),
      { height: 100, end: (last - first) % every === 0 ? timeTick(10 ** last) : "" }));
}

function querySection() {
  if (!data.queries) return [];
  const { misses, hits, inputs, binsPerDecade } = data.queries, timed = misses.count + hits.count, title = "How fast queries are";
  if (timed === 0) return section("queries", title, paragraph("There were no queries to time."));
  const used = misses.bins.map((number, i) => number + hits.bins[i]);
  const first = Math.floor(used.findIndex((number) => number > 0) / binsPerDecade);
  const last = Math.floor(used.findLastIndex((number) => number > 0) / binsPerDecade) + 1;
  const row = (name, latency) => [name, count(latency.count), ...["median", "p90", "p99", "max"].map((key) => time(latency[key])),
    ...(latency.explained > 0 ? [time(latency.expectedNs), fixed(latency.blocks, 1), fixed(latency.expectedBlocks, 1)] : ["-", "-", "-"])];
  return section("queries", title,
    paragraph(`${count(timed)} of ${count(inputs)} queries were timed at distance ${data.distance}, one after the other on one ` +
      `thread of this machine. ${count(hits.count)} of them found a match` +
      `${hits.count > 0 ? ", which takes longer, since its record is read" : ""}.`),
    make("div", { class: "multiples" }, timesChart(misses, "Without a match", "s0", first, last),
      timesChart(hits, "With a match", "s2", first, last)),
    table("Times, and blocks read by a query, beside the estimates",
      ["queries", "number", "median", "90 %", "99 %", "slowest", "time, estimate", "blocks", "blocks, estimate"],
      [...(misses.count > 0 ? [row("without a match", misses)] : []), ...(hits.count > 0 ? [row("with a match", hits)] : [])]));
}

// ----- sizes -----

// Of a store of one segment each table is a part; otherwise, or of several words, all tables are one.
function sizeParts() {
  const { fingerprints, tables, ranks, ids, directory, manifest } = data.sizes;
  const single = data.segmentCount === 1 ? data.tables.map((one, i) => [`table ${i}`, i % 2 ? "s1" : "s0", one.bytes])
    : [["tables", "s0", tables]];
  const parts = words === 1 ? [...single, ["ids", "s2", ids], ["directory", "s3", directory], ["manifest", "s4", manifest]]
    : [["whole fingerprints", "s0", fingerprints], ["tables", "s1", tables], ["ranks", "s4", ranks], ["ids", "s2", ids],
        ["directory, manifest", "s3", directory + manifest]];
  return parts.filter(([, , value]) => value > 0).map(([name, kind, value]) => [name, kind, value / data.records]);
}

function sizeRows(bound) {
  const { fingerprints, tables, ranks, ids, directory, manifest, total } = data.sizes;
  const groups = data.segmentCount !== 1 ? [] : data.groups.map((group, i) =>
    [words > 1 ? `tables of word ${i}` : `table ${i}`, sum(tablesOf(group).map((one) => one.bytes))]);
  return [...(words > 1 ? [["whole fingerprints", fingerprints]] : []), ...groups,
    ...(data.segmentCount !== 1 || data.tableCount !== 1 ? [["all tables", tables]] : []),
    ...(words > 1 ? [["ranks", ranks]] : []), ...(data.ids ? [["ids", ids]] : []),
    ["directory", directory], ["manifest", manifest], ["total", total], [rawText(), rawBytes()],
    ["least for uniform fingerprints", bound * data.records]]
    .map(([name, value]) => [name, count(value), fixed(value / data.records, 2), percent(value / total)]);
}

function sizeWords(bound) {
  const tables = percent(data.sizes.tables / data.sizes.total);
  return paragraph(words > 1
    ? `The fingerprints are stored whole, without coding. Each of their ${words} words has an index: tables of its different ` +
      `values, and ranks, which lead from a value to the fingerprints that have it. The tables take ${tables} of the store. `
    : "Each table holds all fingerprints, in an order of its own. The " +
      `${data.tableCount === 1 ? "table and its header" : "tables"} take ${tables} of the store. `,
  `Raw records take ${fixed(rawBytes() / data.records, 1)} bytes each` +
    `${data.ids ? `, ${data.bits / 8} for the fingerprint and 8 for the id` : ""}. A set of so many uniform fingerprints cannot be ` +
    `stored in less than ${fixed(bound, 2)} bytes for each, and then only in one order; near-duplicates save some.`);
}

function sizeSection() {
  const title = "Where the bytes go";
  if (data.records === 0) return section("size", title, paragraph(`The store has no records. Its files take ${bytes(data.sizes.total)}.`));
  const each = setBoundBits(data.bits, data.distinct) / 8, bound = (each * data.distinct) / data.records;
  const total = data.sizes.total / data.records, raw = rawBytes() / data.records;
  const rawParts = [["fingerprints", "s0", raw - (data.ids ? 8 : 0)], ...(data.ids ? [["ids", "s2", 8]] : [])];
  const tables = data.segmentCount === 1 && data.tableCount > 1 ? "tables, in two shades" : "tables";
  const keys = words > 1 ? [["s0", "whole fingerprints"], ["s1", "tables"], ["s4", "ranks"], ["s2", "ids"], ["s3", "directory, manifest"]]
    : [["s0", tables], ["s2", "ids"], ["s3", "directory"], ["s4", "manifest"]];
  return section("size", title, sizeWords(each), legend(...keys, ["mark", "least for a set of uniform fingerprints"]),
    barChart("Bytes of a record", "bytes per record", [{ name: "This store", total: fixed(total, 1), parts: sizeParts() },
      { name: "Raw records", total: fixed(raw, 1), parts: rawParts }], Math.max(total, raw), bound),
    foldedTable("Sizes of the parts", ["part", "bytes", "bytes per record", "of the store"], sizeRows(bound)));
}

// ----- plans -----

// Whether a plan is that of the store; of several words, the one that all have.
function isOwn(plan) {
  if (data.kind !== "report" || data.tables.length === 0) return false;
  const { groups, tables } = data, all = (key) => tables.map((one) => one[key]);
  const areEqual = words === 1 || groups.every(({ radius, tables: number }) =>
    radius === Math.floor(data.distance / words) && number === groups[0].tables);
  return areEqual && plan.tables === tables.length / words &&
    plan.minPrefixBits === Math.min(...all("prefixBits")) && plan.maxPrefixBits === Math.max(...all("prefixBits")) &&
    plan.minRadius === Math.min(...all("radius")) && plan.maxRadius === Math.max(...all("radius"));
}

// Plans that are far slower or larger than the chosen one would press the others together.
const MAX_TIMES_LARGER = 4, MAX_TIMES_SLOWER = 1000;

function planChart(chosen, own) {
  const drawn = data.plans.filter((plan) => !chosen ||
    (plan.bytesEach <= chosen.bytesEach * MAX_TIMES_LARGER && plan.warmNs <= chosen.warmNs * MAX_TIMES_SLOWER));
  const point = (plan, kind, more) => ({ x: plan.bytesEach, y: plan.warmNs, kind, ...more,
    tip: `${plan.plan}: ${rounded(plan.bytesEach)} bytes, ${time(plan.warmNs)}` });
  const points = drawn.map((plan) => point(plan, plan.isUseful ? "p0" : "p1", { isOnLine: plan.isUseful }));
  if (chosen) points.push(point(chosen, "p0", { name: "chosen", isBelow: true }));
  if (own) points.push({ ...point(own, "p2", { name: "this store" }), x: data.sizes.total / data.records });
  const times = points.map(({ y }) => y), slowest = Math.max(1, ...times);
  return pointChart("Plans by size and time", "bytes per record", points, linear(Math.max(1, ...points.map(({ x }) => x)), tick),
    logarithmic(Math.max(Math.min(...times, slowest), 1), slowest, timeTick));
}

// It may be broken into lines between its groups.
const breakable = (text) => text.split(/(?<=[,/])/).flatMap((part, i) => (i > 0 ? [make("wbr", {}), part] : [part]));
const planName = (plan, own) => [code(breakable(plan.plan)), plan.isChosen ? " (chosen)" : "", plan === own ? " (this store)" : ""];

function planReason(chosen, own) {
  if (!chosen) return [];
  const isReport = data.kind === "report";
  return paragraph(...(isReport ? ["For these records, ", code("sstore plan"), " chooses "] : ["The chosen plan is "]),
    code(chosen.plan), `: ${chosen.reason}.`, !isReport ? "" : chosen === own ? " This is the store's own plan."
      : words > 1 ? " The store's words have other plans: see the next section." : " The store has another plan.");
}

function planSection() {
  if (data.kind === "report" && data.records === 0) return [];
  const title = data.kind === "report" ? "The plan among its alternatives" : "Plans by size and time";
  if (data.plans.length === 0) return section("plans", title, paragraph("There are no records to plan for."));
  const chosen = data.plans.find((plan) => plan.isChosen), own = data.plans.find(isOwn);
  return section("plans", title,
    paragraph("More tables take more bytes, and a query tests fewer fingerprints. Points at the lower left are better. Times are " +
      "estimates for one query without a match, with all blocks in memory. They compare plans, and do not predict the times of " +
      "a machine. Plans of more than four times the bytes are not drawn."),
    words > 1 ? paragraph(`A plan is that of each of the ${words} words, with equal radii. A build gives skewed words other radii and ` +
      "plans, so it may cost less. Bytes and times are those of all words.") : [],
    planReason(chosen, own),
    legend(["p0", "no smaller plan is as fast, warm or cold"], ["p1", "other plans"], ...(own ? [["p2", "this store"]] : [])),
    planChart(chosen, own),
    table("Plans of which no smaller one is as fast, warm or cold, by the estimates",
      ["plan", words > 1 ? "tables of a word" : "tables", "bytes per record", "store", "query, warm", "query, cold", "blocks",
        "candidates"],
      data.plans.filter((plan) => plan.isUseful || plan.isChosen || plan === own).map((plan) => [planName(plan, own),
        count(plan.tables), fixed(plan.bytesEach, 2), bytes(plan.bytes), time(plan.warmNs), time(plan.coldNs), rounded(plan.blocks),
        rounded(plan.candidates)])));
}

function planFigures() {
  const chosen = data.plans.find((plan) => plan.isChosen);
  if (!chosen) return figures();
  return figures(["Chosen plan", plural(chosen.tables * words, "table"), chosen.plan + (words > 1 ? ` for each of ${words} words` : "")],
    ["Size", bytes(chosen.bytes), "of the whole store"],
    ["Bytes per record", fixed(chosen.bytesEach, 1), words > 1 ? "of the whole store" : "in all tables"],
    ["Time of a query", time(chosen.warmNs), "estimated, in memory"]);
}

// ----- tables -----

// Bits of a fingerprint in tables. The last part is what no other explains: bounds of groups, ends of blocks, the directory.
function bitParts(tables) {
  const each = (value) => value / data.distinctInTables, parts = [0, 0, 0, 0];
  for (const { count: number, differences, codeLengths, bitsEach } of tables) {
    const column = 32 * number;
    const suffixes = sum(differences.map((pairs, i) => (i < 31 ? pairs * (31 - i) : 0)));
    const codes = sum(differences.map((pairs, i) => pairs * codeLengths[Math.min(i, 32)]));
    const frame = Math.max((bitsEach ?? 0) * number - column - suffixes - codes, 0);
    [column, suffixes, codes, frame].forEach((value, i) => { parts[i] += each(value); });
  }
  return ["lower half", "suffix", "code", "rest"].map((name, i) => [name, "s" + i, parts[i]]);
}

// How much each word tells fingerprints apart, and how far a query searches it.
const wordTable = () => table("Words of the fingerprints", ["word", "radius", "different values", "of the fingerprints", "plan"],
  data.groups.map(({ first, radius, plan }, i) => {
    const values = data.tables[first].count;
    return [count(i), radius === null ? "-" : radius < 0 ? "not searched" : count(radius), count(values),
      percent(values / data.distinctInTables), radius === null ? "-" : code(plan)];
  }));

function tableSection() {
  if (data.records === 0) return [];
  const title = words > 1 ? "Bits of a fingerprint in the tables of each word" : "Bits of a fingerprint in each table";
  const rows = data.groups.map((group, i) => {
    const parts = bitParts(tablesOf(group)), total = sum(parts.map(([, , value]) => value));
    return { name: groupName(group, i), total: fixed(total, 1), parts, value: total };
  });
  return section("tables", title,
    words > 1 ? [paragraph("If two fingerprints are near each other, one of their words is within its radius: the sum of " +
      "(radius + 1) over all words is at least the distance + 1. So a query searches each word in its own tables, and compares the " +
      "whole fingerprints that it finds. A word in which many fingerprints are alike has a small radius, or is not searched.")] : [],
    paragraph(`The lower half of a ${item} stays as it is, so that a query can test it without decoding. The upper half is a code ` +
      `for the first bit in which it differs from the ${item} before, and the bits behind that bit. More ${item}s have more equal ` +
      `leading bits, and take fewer bits each.${data.segmentCount > 1 ? " These are the tables of the largest segment." : ""}`),
    words > 1 ? wordTable() : [],
    legend(["s0", "lower half, as it is"], ["s1", "suffix"], ["s2", "code"], ["s3", "group keys, ends of blocks, directory"],
      ...(words > 1 ? [] : [["mark", "least for a set of uniform fingerprints"]])), // the mark is that of one table
    barChart(title, "bits per fingerprint", rows, Math.max(64, ...rows.map(({ value }) => value)),
      words > 1 ? 0 : setBoundBits(64, data.distinctInTables)),
    longTable(words > 1 ? "Tables, in bits per different value of the word" : "Tables, in bits per fingerprint",
      ["table", "key bits", "flips", "blocks", "bits", "ideal code", "Elias-Fano", "Rice"],
      data.tables.map((one, i) => [tableName(i), count(one.prefixBits), count(one.radius), count(one.blocks), fixed(one.bitsEach, 2),
        fixed(one.boundBitsEach, 2), fixed(one.eliasFanoBitsEach, 2), fixed(one.riceBitsEach, 2)])));
}

// The symbols of a table: h, its pairs of neighbours, their part, the length of its code.
function symbolsOf({ differences, codeLengths }) {
  const total = sum(differences);
  return Array.from({ length: SYMBOLS }, (_, h) => {
    const pairs = h < SYMBOLS - 1 ? differences[h] : sum(differences.slice(h));
    return { h, pairs, part: total > 0 ? pairs / total : 0, length: codeLengths[h] };
  });
}

function symbolChart(group, i) {
  const symbols = symbolsOf(data.tables[group.first]), name = `${words > 1 ? "Word" : "Table"} ${i}`;
  const bits = sum(symbols.map(({ part, length }) => part * length));
  const ideal = -sum(symbols.map(({ part }) => (part > 0 ? part * Math.log2(part) : 0)));
  return make("div", {}, make("h3", {}, `${name}: ${fixed(bits, 2)} bits a code, ideal ${fixed(ideal, 2)}`),
    histogram(`Distribution of h in ${name}`, "h, the number of equal leading bits", "s0", symbols.map(({ h, part, length }) => ({ part,
      tip: `h ${h}: ${percent(part)}`, dot: length, dotTip: `h ${h}: a code of ${length} bits`, label: h % 8 === 0 && String(h) })),
    { centred: true, dotMax: MAX_CODE_BITS, height: 100 }));
}

function symbolSection() {
  if (data.records < 2) return [];
  return section("symbols", "How much neighbours have in common",
    paragraph(`In the order of a table, h is the number of leading bits in which a ${item} equals the one before. Frequent values ` +
      `of h have short codes. Uniform ${item}s have a narrow peak at the left of log2 of their number, here ` +
      `${words > 1 ? "at most " : ""}${fixed(Math.log2(data.distinctInTables), 1)}. Bars to the right of it are ${item}s that are ` +
      `near each other: the more there are, the smaller is the table. At 32 the whole upper half is equal.` +
      `${words > 1 ? " Of each word, the first table is shown." : ""}`),
    legend(["s0", "part of the neighbours"], ["s2", "length of the code in bits (right)"]),
    make("div", { class: "multiples" }, data.groups.map(symbolChart)),
    fold("Counts and code lengths of all symbols", data.groups.map(({ first }) =>
      table(`Symbols of table ${tableName(first)}`, ["h", "neighbours", "part", "code length"], symbolsOf(data.tables[first])
        .filter(({ pairs, length }) => pairs > 0 || length > 0)
        .map(({ h, pairs, part, length }) => [count(h), count(pairs), percent(part), count(length)])))));
}

// ----- crowded prefixes -----

// The number of different prefixes in a table: its neighbours that differ within the prefix, and one.
const prefixCount = ({ differences, prefixBits }) => 1 + sum(differences.slice(0, prefixBits));
// The expected number among uniform fingerprints.
const uniformPrefixCount = ({ count: number, prefixBits }) => 2 ** prefixBits * -Math.expm1(-number / 2 ** prefixBits);

function crowdSection() {
  if (data.lookedUp === 0) return [];
  const searched = data.groups.map((group, i) => ({ ...group, i })).filter(({ radius }) => radius === null || radius >= 0);
  const chartName = (group) => groupName(group, group.i) + (words > 1 ? "" : `, ${data.tables[group.first].prefixBits} key bits`);
  return section("prefixes", "How crowded prefixes are",
    paragraph(`A query reads the ${item}s that have its key bits, its prefix, in each table, and tests them. Real ${item}s crowd ` +
      `under some prefixes. Of ${count(data.lookedUp)} stored fingerprints that were looked up, half find ` +
      `${rounded(sum(searched.map(({ median }) => median)))} or fewer to test in all tables together. Uniform ones would find ` +
      `${rounded(sum(searched.map(({ uniform }) => uniform)))}.` +
      (searched.length === data.groups.length ? "" : " Words that queries do not search are left out.")),
    legend(["s0", "from the median to 99 of 100 queries; the point is the most"], ["mark", "uniform fingerprints"]),
    rangeChart(`${words > 1 ? "Words" : "Fingerprints"} with a prefix that a query looks up`,
      words > 1 ? "different values of the word to test in its tables" : "fingerprints to test in the table",
      searched.map((group) => ({ name: chartName(group), low: group.median, high: group.p99, max: group.max, expected: group.uniform }))),
    longTable(words > 1 ? "Different values of words to test, and prefixes in all tables of a word"
      : "Fingerprints to test, and different prefixes",
      [words > 1 ? "word" : "table", "uniform", "median", "99 %", "most", "prefixes in use", "of uniform"], searched.map((group) => {
        const prefixes = sum(tablesOf(group).map(prefixCount)), uniform = sum(tablesOf(group).map(uniformPrefixCount));
        return [count(group.i), ...[group.uniform, group.median, group.p99, group.max, prefixes].map(rounded), percent(prefixes / uniform)];
      })));
}

// ----- blocks -----

const MAX_FILL_BINS = 24;

function fillChart() {
  const low = data.blockCounts.reduce((a, b) => Math.min(a, b)), high = data.blockCounts.reduce((a, b) => Math.max(a, b));
  const width = Math.floor((high - low) / MAX_FILL_BINS) + 1, bins = Array(Math.floor((high - low) / width) + 1).fill(0);
  for (const number of data.blockCounts) bins[Math.floor((number - low) / width)] += 1;
  const middle = bins.length > 1 ? Math.floor(bins.length / 2) : 0;
  return histogram(`Blocks by the number of their ${item}s`, `${item}s in a block`, "s0", bins.map((number, i) => {
    const part = number / data.blockCounts.length, from = low + width * i;
    return { part, tip: `from ${count(from)} on: ${percent(part)}`, label: (i === 0 || i === middle) && count(from) };
  }), { end: count(low + width * bins.length) });
}

function fillSection() {
  if (data.blockCounts.length === 0) return [];
  const used = sum(data.tables.map(({ fill }) => fill.meanUsed)) / data.tables.length;
  return section("fill", "How full blocks are",
    paragraph(`A block of a table has ${count(data.blockBytes)} bytes, of which ${item}s use ${percent(used)}. A writer fills it until ` +
      `the next ${item} does not fit. So the number of ${item}s varies, and the bytes do not: where ${item}s are near each other, a ` +
      "block holds more. " +
      (used < 0.9 ? "The tables are so small that they end within their only block." : "Almost no bytes are left over.") +
      (words > 1 ? " Blocks of whole fingerprints are not shown: all hold equally many." : "")),
    fillChart(),
    longTable("Blocks of each table", ["table", "blocks looked at", "used", "used, least full", item + "s", "from", "to"],
      data.tables.map(({ fill }, i) => [tableName(i), count(fill.blocks), percent(fill.meanUsed), percent(fill.minUsed),
        fixed(fill.meanCount, 1), count(fill.minCount), count(fill.maxCount)])));
}

// ----- segments -----

function segmentSection() {
  const { segments, segmentCount, removed, sizes } = data;
  if (segmentCount < 2) return [];
  return section("segments", "Segments",
    paragraph("Each addition or removal wrote a segment, and a query searches all that add. " +
      `${removed > 0 ? count(removed) : "No"} removed records still take space. `,
      code("sstore compact"), " makes one segment of all, without them."),
    segments.length < segmentCount ? paragraph(`These are the newest ${segments.length} of ${count(segmentCount)}.`) : [],
    table("Segments, the oldest first", ["segment", "kind", "records", "distinct", "bytes", "of the store", "tables"],
      segments.map((one) => [count(one.number), one.removes ? "removes" : "adds", count(one.records), count(one.distinct), count(one.bytes),
        percent(one.bytes / sizes.total), count(one.tables)])));
}

// ----- the page -----

const detailSections = () => [tableSection(), symbolSection(), crowdSection(), fillSection(), segmentSection()];
const parts = data.kind === "plan" ? [planFigures(), planSection()]
  : [storeFigures(), clusterSection(), querySection(), sizeSection(), planSection(),
      fold("How the store is made: tables, symbols, prefixes, blocks, segments", detailSections())];
document.querySelector("header").replaceChildren(...heading());
document.querySelector("main").replaceChildren(...parts.flat());
document.querySelector("footer").replaceChildren(paragraph(`sstore ${data.version}, ${data.date}. Units are powers of 1000.`));
document.body.className = "drawn";
showTips();

// Paper has no clicks.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
