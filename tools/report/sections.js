// sections.js - the parts of a page, from the numbers in the block `data`; tools/report/page.c writes them: those of
// 'sstore stat --json' and 'sstore plan --json', and more. A function
// returns an element, or nothing if its part has nothing to show.

const page = JSON.parse(document.getElementById("data").textContent);
const isReport = page.kind === "report", plans = page.plan.plans;
const data = isReport ? page.store : page.plan; // both say how many records there are, and of what kind
const bits = data.fingerprint_bits, words = bits / 64;
const sizes = Object.fromEntries(Object.entries(data.sizes ?? {}).map(([part, size]) => [part, size.bytes]));
if (sizes.id_index) sizes.ids += sizes.id_index; // one part of the charts
const main = data.segments?.[page.main_segment] ?? { distinct_count: 0, tables: [] }; // the largest segment
const tables = main.tables.map((one, i) => ({ ...one, ...page.tables[i] }));
const item = words > 1 ? "word" : "fingerprint"; // what a table holds
const SYMBOLS = 33, MAX_CODE_BITS = 11, MAX_OPEN_TABLES = 20, MAX_SEGMENTS = 50;

const sum = (values) => values.reduce((total, value) => total + value, 0);
const tablesOf = (group) => tables.slice(group.first, group.first + group.table_count);
const tableName = (index) => (words > 1 ? `${index}, word\u00a0${tables[index].word}` : count(index));
const groupName = (group, i) => (words > 1 ? `Word ${i}, ${plural(group.table_count, "table")}` : `Table ${i}`);
const longTable = (caption, columns, rows) => (rows.length > MAX_OPEN_TABLES ? foldedTable : table)(caption, columns, rows);

// The bytes that records take without any store: a fingerprint, and 8 for an id.
const rawBytes = () => (data.has_ids ? (bits / 8 + 8) * data.record_count : (bits / 8) * data.distinct_count);
const rawText = () => `raw: ${bits / 8 + (data.has_ids ? 8 : 0)} bytes a ${data.has_ids ? "record" : "fingerprint"}`;

function logGamma(x) { // Stirling's series, which is good from 10 on
  let shift = 0;
  for (; x < 10; x++) shift -= Math.log(x);
  return shift + (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5);
}

// The fewest bits for each of so many different numbers, if they are only stored as a set: log2 of the number of sets,
// which is nearly (2^width)^number / number!.
const setBoundBits = (width, number) => (number > 0 ? width - logGamma(number + 1) / Math.LN2 / number : 0);

// ----- head -----

function heading() {
  const sampled = page.plan.sample_count > 0 ? "sampled" : "uniform";
  const [title, second] = isReport
    ? [page.name, `${page.path} \u00b7 ${words > 1 ? bits + " bits, " : ""}distance ${data.distance}, ` +
        `${plural(tables.length, "table")}, ${data.has_ids ? "with" : "without"} ids \u00b7 recipe: ${data.recipe || "not recorded"}`]
    : [`${count(data.record_count)} records${words > 1 ? ` of ${bits} bits` : ""}, distance ${data.distance}`,
        `${data.has_ids ? "with" : "without"} ids, for ${sampled} fingerprints`];
  document.title = `sstore ${page.kind}: ${title}`;
  return [make("p", { class: "kind" }, "sstore " + page.kind), make("h1", {}, title), make("p", { class: "second" }, second)];
}

const figures = (...rows) => make("section", { class: "figures", "aria-label": "Key figures" },
  make("dl", {}, rows.map(([name, value, note]) =>
    make("div", {}, make("dt", {}, name), make("dd", { class: "big" }, value), make("dd", {}, note)))));

// The answer that most readers look for.
function nearFigure() {
  const { is_sample: isSample, sampled_count: sampled, near_count: near, record_count: records, cluster_count: clusters } = page.clusters;
  if (isSample)
    return ["Near-duplicates", near > 0 ? percent(near / Math.max(sampled, 1)) : "none seen",
      `of ${count(sampled)} sampled fingerprints have one within ${data.distance} bits; --clusters finds all`];
  return ["Near-duplicates", count(records - clusters),
    `could be removed, of ${count(records)} in ${plural(clusters, "cluster")} within ${data.distance} bits`];
}

// Why a record takes so many bytes: the tables, and the ids; of several words also other parts.
function bytesNote() {
  const each = (total, decimals) => (total / data.record_count < 1000 ? fixed : rounded)(total / data.record_count, decimals);
  const { fingerprints, ranks, ids } = sizes;
  const parts = words > 1 ? `fingerprints ${each(fingerprints, 1)}, tables ${each(sizes.tables, 1)}, ranks ${each(ranks, 1)}`
    : `${plural(tables.length, "table")} of ${each(sizes.tables / tables.length, 2)}`;
  return parts + (data.has_ids ? `; ids ${each(ids, 2)}` : "");
}

function timeFigure() {
  const { misses, hits } = page.queries ?? { misses: { count: 0 }, hits: { count: 0 } };
  if (misses.count + hits.count === 0) return [];
  const note = misses.count === 0 ? "median with a match"
    : "median without a match" + (hits.count > 0 ? `; ${time(hits.time.median)} with one` : "");
  return [["Time of a query", time((misses.count > 0 ? misses : hits).time.median), note]];
}

function storeFigures() {
  const { record_count: records, distinct_count: distinct } = data, each = sizes.total / records;
  const sizeFigures = records === 0 ? [] : [
    ["Bytes per record", each < 1000 ? fixed(each, 1) : rounded(each), bytesNote()],
    ["Of raw records", percent(sizes.total / rawBytes()), rawText()]];
  const exactly = records < 1e6 ? "" : count(records) + ", ";
  return figures(nearFigure(),
    ["Records", records < 1e6 ? count(records) : rounded(records), `${exactly}${count(distinct)} distinct`],
    ["Size", bytes(sizes.total), `${count(sizes.total)} bytes`], ...sizeFigures, ...timeFigure());
}

// ----- clusters -----

// The digits that differ from those of another fingerprint stand out. Four words a line.
function fingerprintCell(hex, first) {
  const digits = [...hex].map((digit, i) => (digit === first[i] ? digit : make("b", {}, digit)));
  return code(digits.flatMap((digit, i) => (i > 0 && i % 64 === 0 ? ["\n", digit] : [digit])));
}

// Each cluster is a group of rows.
function exampleTable(title) {
  const { examples, named } = page.clusters;
  return make("div", { class: "examples" }, table(title, ["records", "fingerprint", "distance to the first", named ? "name" : "id"],
    ...examples.map(({ size, records }) => records.map((record, i) => [i === 0 ? count(size) : "",
      fingerprintCell(record.fingerprint, records[0].fingerprint), count(record.distance), record.id]))));
}

function sampledClusters() {
  const { sampled_count: sampled, near_count: near } = page.clusters;
  return section("clusters", "Near-duplicates in a sample",
    paragraph(`The store is large, so only ${count(sampled)} of its fingerprints, taken at random, were compared with all records: ` +
      `${near > 0 ? count(near) : "none"} of them have another record within ${data.distance} bits. `,
      code("sstore report --clusters"), " finds all, and ", code("sstore clusters"), " lists them."),
    near > 0 ? exampleTable("Those with the most records around them, and up to five of these") : []);
}

function clusterSection() {
  const { is_sample: isSample, cluster_count: clusters, record_count: records, bins: clusterBins, bin_records: binRecords } = page.clusters;
  if (isSample) return sampledClusters();
  const title = "Clusters of near-duplicates";
  if (clusters === 0) return section("clusters", title, paragraph(`No record has a near-duplicate within distance ${data.distance}.`));
  const bins = clusterBins.map((number, i) => [number, binRecords[i]]).slice(1, 1 + clusterBins.findLastIndex((number) => number > 0));
  const every = Math.ceil(bins.length / 6);
  const name = (i) => (i === 0 ? "2, 3" : rounded(2 ** (i + 1)));
  const size = (i) => `${count(2 ** (i + 1))} to ${count(2 ** (i + 2) - 1)}`;
  return section("clusters", title,
    paragraph(`${count(records)} of ${count(data.record_count)} records are in ${plural(clusters, "cluster")}: each record differs from ` +
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
  const each = page.queries.bins_per_decade, bins = latency.bins.slice(first * each, last * each), every = Math.ceil((last - first) / 5);
  return latency.count === 0 ? [] : make("div", {}, make("h3", {}, title),
    histogram("Times " + title.toLowerCase(), "time of a query", kind, bins.map((number, i) => ({
      part: number / latency.count, tip: `from ${timeTick(10 ** (first + i / each))} on: ${percent(number / latency.count)}`,
      label: i % (each * every) === 0 && timeTick(10 ** (first + i / each)) })),
      { height: 100, end: (last - first) % every === 0 ? timeTick(10 ** last) : "" }));
}

function querySection() {
  if (!page.queries) return [];
  const { misses, hits, given_count: given, bins_per_decade: binsPerDecade } = page.queries;
  const timed = misses.count + hits.count, title = "How fast queries are";
  if (timed === 0) return section("queries", title, paragraph("There were no queries to time."));
  const used = misses.bins.map((number, i) => number + hits.bins[i]);
  const first = Math.floor(used.findIndex((number) => number > 0) / binsPerDecade);
  const last = Math.floor(used.findLastIndex((number) => number > 0) / binsPerDecade) + 1;
  const row = (name, latency) => [name, count(latency.count), ...["median", "p90", "p99", "max"].map((key) => time(latency.time[key])),
    ...(latency.explained_count > 0
      ? [time(latency.mean_expected_ns), fixed(latency.mean_blocks, 1), fixed(latency.mean_expected_blocks, 1)]
      : ["-", "-", "-"])];
  return section("queries", title,
    paragraph(`${count(timed)} of ${count(given)} queries were timed at distance ${data.distance}, one after the other on one ` +
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
  const { fingerprints, ranks, ids, directory, manifest } = sizes;
  const single = data.segments.length === 1 ? tables.map((one, i) => [`table ${i}`, i % 2 ? "s1" : "s0", one.file_bytes])
    : [["tables", "s0", sizes.tables]];
  const parts = words === 1 ? [...single, ["ids", "s2", ids], ["directory", "s3", directory], ["manifest", "s4", manifest]]
    : [["whole fingerprints", "s0", fingerprints], ["tables", "s1", sizes.tables], ["ranks", "s4", ranks], ["ids", "s2", ids],
        ["directory, manifest", "s3", directory + manifest]];
  return parts.filter(([, , value]) => value > 0).map(([name, kind, value]) => [name, kind, value / data.record_count]);
}

function sizeRows(bound) {
  const { fingerprints, ranks, ids, directory, manifest, total } = sizes;
  const groups = data.segments.length !== 1 ? [] : page.groups.map((group, i) =>
    [words > 1 ? `tables of word ${i}` : `table ${i}`, sum(tablesOf(group).map((one) => one.file_bytes))]);
  return [...(words > 1 ? [["whole fingerprints", fingerprints]] : []), ...groups,
    ...(data.segments.length !== 1 || tables.length !== 1 ? [["all tables", sizes.tables]] : []),
    ...(words > 1 ? [["ranks", ranks]] : []), ...(data.has_ids ? [["ids", ids]] : []),
    ["directory", directory], ["manifest", manifest], ["total", total], [rawText(), rawBytes()],
    ["least for uniform fingerprints", bound * data.record_count]]
    .map(([name, value]) => [name, count(value), fixed(value / data.record_count, 2), percent(value / total)]);
}

function sizeWords(bound) {
  const share = percent(sizes.tables / sizes.total);
  return paragraph(words > 1
    ? `The fingerprints are stored whole, without coding. Each of their ${words} words has an index: tables of its different ` +
      `values, and ranks, which lead from a value to the fingerprints that have it. The tables take ${share} of the store. `
    : "Each table holds all fingerprints, in an order of its own. The " +
      `${tables.length === 1 ? "table and its header" : "tables"} take ${share} of the store. `,
  `Raw records take ${fixed(rawBytes() / data.record_count, 1)} bytes each` +
    `${data.has_ids ? `, ${bits / 8} for the fingerprint and 8 for the id` : ""}. A set of so many uniform fingerprints cannot ` +
    `be stored in less than ${fixed(bound, 2)} bytes for each, and then only in one order; near-duplicates save some.`);
}

function sizeSection() {
  const title = "Where the bytes go";
  if (data.record_count === 0) return section("size", title, paragraph(`The store has no records. Its files take ${bytes(sizes.total)}.`));
  const each = setBoundBits(bits, data.distinct_count) / 8, bound = (each * data.distinct_count) / data.record_count;
  const total = sizes.total / data.record_count, raw = rawBytes() / data.record_count;
  const rawParts = [["fingerprints", "s0", raw - (data.has_ids ? 8 : 0)], ...(data.has_ids ? [["ids", "s2", 8]] : [])];
  const tableKey = data.segments.length === 1 && tables.length > 1 ? "tables, in two shades" : "tables";
  const keys = words > 1 ? [["s0", "whole fingerprints"], ["s1", "tables"], ["s4", "ranks"], ["s2", "ids"], ["s3", "directory, manifest"]]
    : [["s0", tableKey], ["s2", "ids"], ["s3", "directory"], ["s4", "manifest"]];
  return section("size", title, sizeWords(each), legend(...keys, ["mark", "least for a set of uniform fingerprints"]),
    barChart("Bytes of a record", "bytes per record", [{ name: "This store", total: fixed(total, 1), parts: sizeParts() },
      { name: "Raw records", total: fixed(raw, 1), parts: rawParts }], Math.max(total, raw), bound),
    foldedTable("Sizes of the parts", ["part", "bytes", "bytes per record", "of the store"], sizeRows(bound)));
}

// ----- plans -----

// Whether a plan is that of the store; of several words, the one that all have.
function isOwn(plan) {
  if (!isReport || tables.length === 0) return false;
  const each = (key) => tables.map((one) => one[key]);
  const areEqual = data.words.every(({ radius, table_count: number }) =>
    radius === Math.floor(data.distance / words) && number === data.words[0].table_count);
  return areEqual && plan.table_count === tables.length / words &&
    plan.min_prefix_bits === Math.min(...each("prefix_bits")) && plan.max_prefix_bits === Math.max(...each("prefix_bits")) &&
    plan.min_radius === Math.min(...each("radius")) && plan.max_radius === Math.max(...each("radius"));
}

// Plans that are far slower or larger than the chosen one would press the others together.
const MAX_TIMES_LARGER = 4, MAX_TIMES_SLOWER = 1000;

function planChart(chosen, own) {
  const drawn = plans.filter((plan) => !chosen ||
    (plan.bytes_per_record <= chosen.bytes_per_record * MAX_TIMES_LARGER && plan.warm_ns <= chosen.warm_ns * MAX_TIMES_SLOWER));
  const point = (plan, kind, more) => ({ x: plan.bytes_per_record, y: plan.warm_ns, kind, ...more,
    tip: `${plan.plan}: ${rounded(plan.bytes_per_record)} bytes, ${time(plan.warm_ns)}` });
  const points = drawn.map((plan) => point(plan, plan.is_useful ? "p0" : "p1", { isOnLine: plan.is_useful }));
  if (chosen) points.push(point(chosen, "p0", { name: "chosen", isBelow: true }));
  if (own) points.push({ ...point(own, "p2", { name: "this store" }), x: sizes.total / data.record_count });
  const times = points.map(({ y }) => y), slowest = Math.max(1, ...times);
  return pointChart("Plans by size and time", "bytes per record", points, linear(Math.max(1, ...points.map(({ x }) => x)), tick),
    logarithmic(Math.max(Math.min(...times, slowest), 1), slowest, timeTick));
}

// It may be broken into lines between its groups.
const breakable = (text) => text.split(/(?<=[,/])/).flatMap((part, i) => (i > 0 ? [make("wbr", {}), part] : [part]));
const planName = (plan, own) => [code(breakable(plan.plan)), plan.is_chosen ? " (chosen)" : "", plan === own ? " (this store)" : ""];

function planReason(chosen, own) {
  if (!chosen) return [];
  return paragraph(...(isReport ? ["For these records, ", code("sstore plan"), " chooses "] : ["The chosen plan is "]),
    code(chosen.plan), `: ${chosen.reason}.`, !isReport ? "" : chosen === own ? " This is the store's own plan."
      : words > 1 ? " The store's words have other plans: see the next section." : " The store has another plan.");
}

function planSection() {
  if (isReport && data.record_count === 0) return [];
  const title = isReport ? "The plan among its alternatives" : "Plans by size and time";
  if (plans.length === 0) return section("plans", title, paragraph("There are no records to plan for."));
  const chosen = plans.find((plan) => plan.is_chosen), own = plans.find(isOwn);
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
      plans.filter((plan) => plan.is_useful || plan.is_chosen || plan === own).map((plan) => [planName(plan, own),
        count(plan.table_count), fixed(plan.bytes_per_record, 2), bytes(plan.total_bytes), time(plan.warm_ns),
        time(plan.cold_ns), rounded(plan.block_count), rounded(plan.candidate_count)])));
}

function planFigures() {
  const chosen = plans.find((plan) => plan.is_chosen);
  if (!chosen) return figures();
  return figures(
    ["Chosen plan", plural(chosen.table_count * words, "table"), chosen.plan + (words > 1 ? ` for each of ${words} words` : "")],
    ["Size", bytes(chosen.total_bytes), "of the whole store"],
    ["Bytes per record", fixed(chosen.bytes_per_record, 1), words > 1 ? "of the whole store" : "in all tables"],
    ["Time of a query", time(chosen.warm_ns), "estimated, in memory"]);
}

// ----- tables -----

// Bits of a fingerprint in tables. The last part is what no other explains: bounds of groups, ends of blocks, the directory.
function bitParts(some) {
  const each = (value) => value / main.distinct_count, parts = [0, 0, 0, 0];
  for (const { count: number, difference_counts, code_lengths: codeLengths, bits_per_fingerprint: bitsEach } of some) {
    const column = 32 * number;
    const suffixes = sum(difference_counts.map((pairs, i) => (i < 31 ? pairs * (31 - i) : 0)));
    const codes = sum(difference_counts.map((pairs, i) => pairs * codeLengths[Math.min(i, 32)]));
    const frame = Math.max((bitsEach ?? 0) * number - column - suffixes - codes, 0);
    [column, suffixes, codes, frame].forEach((value, i) => { parts[i] += each(value); });
  }
  return ["lower half", "suffix", "code", "rest"].map((name, i) => [name, "s" + i, parts[i]]);
}

// How much each word tells fingerprints apart, and how far a query searches it.
const wordTable = () => table("Words of the fingerprints", ["word", "radius", "different values", "of the fingerprints", "plan"],
  data.words.map(({ radius, plan }, i) => {
    const values = tables[page.groups[i].first].count;
    return [count(i), radius < 0 ? "not searched" : count(radius), count(values), percent(values / main.distinct_count),
      code(breakable(plan))];
  }));

function tableSection() {
  if (data.record_count === 0) return [];
  const title = words > 1 ? "Bits of a fingerprint in the tables of each word" : "Bits of a fingerprint in each table";
  const rows = page.groups.map((group, i) => {
    const parts = bitParts(tablesOf(group)), total = sum(parts.map(([, , value]) => value));
    return { name: groupName(group, i), total: fixed(total, 1), parts, value: total };
  });
  return section("tables", title,
    words > 1 ? [paragraph("If two fingerprints are near each other, one of their words is within its radius: the sum of " +
      "(radius + 1) over all words is at least the distance + 1. So a query searches each word in its own tables, and compares the " +
      "whole fingerprints that it finds. A word in which many fingerprints are alike has a small radius, or is not searched.")] : [],
    paragraph(`The lower half of a ${item} stays as it is, so that a query can test it without decoding. The upper half is a code ` +
      `for the first bit in which it differs from the ${item} before, and the bits behind that bit. More ${item}s have more equal ` +
      `leading bits, and take fewer bits each.${data.segments.length > 1 ? " These are the tables of the largest segment." : ""}`),
    words > 1 ? wordTable() : [],
    legend(["s0", "lower half, as it is"], ["s1", "suffix"], ["s2", "code"], ["s3", "group keys, ends of blocks, directory"],
      ...(words > 1 ? [] : [["mark", "least for a set of uniform fingerprints"]])), // the mark is that of one table
    barChart(title, "bits per fingerprint", rows, Math.max(64, ...rows.map(({ value }) => value)),
      words > 1 ? 0 : setBoundBits(64, main.distinct_count)),
    longTable(words > 1 ? "Tables, in bits per different value of the word" : "Tables, in bits per fingerprint",
      ["table", "key bits", "flips", "blocks", "bits", "ideal code", "Elias-Fano", "Rice"],
      tables.map((one, i) => [tableName(i), count(one.prefix_bits), count(one.radius), count(one.block_count),
        ...["bits", "bound_bits", "elias_fano_bits", "rice_bits"].map((key) => fixed(one[key + "_per_fingerprint"], 2))])));
}

// The symbols of a table: h, its pairs of neighbours, their part, the length of its code.
function symbolsOf({ difference_counts, code_lengths: codeLengths }) {
  const total = sum(difference_counts);
  return Array.from({ length: SYMBOLS }, (_, h) => {
    const pairs = h < SYMBOLS - 1 ? difference_counts[h] : sum(difference_counts.slice(h));
    return { h, pairs, part: total > 0 ? pairs / total : 0, length: codeLengths[h] };
  });
}

function symbolChart(group, i) {
  const symbols = symbolsOf(tables[group.first]), name = `${words > 1 ? "Word" : "Table"} ${i}`;
  const mean = sum(symbols.map(({ part, length }) => part * length));
  const ideal = -sum(symbols.map(({ part }) => (part > 0 ? part * Math.log2(part) : 0)));
  return make("div", {}, make("h3", {}, `${name}: ${fixed(mean, 2)} bits a code, ideal ${fixed(ideal, 2)}`),
    histogram(`Distribution of h in ${name}`, "h, the number of equal leading bits", "s0", symbols.map(({ h, part, length }) => ({ part,
      tip: `h ${h}: ${percent(part)}`, dot: length, dotTip: `h ${h}: a code of ${length} bits`, label: h % 8 === 0 && String(h) })),
    { centred: true, dotMax: MAX_CODE_BITS, height: 100 }));
}

function symbolSection() {
  if (data.record_count < 2) return [];
  return section("symbols", "How much neighbours have in common",
    paragraph(`In the order of a table, h is the number of leading bits in which a ${item} equals the one before. Frequent values ` +
      `of h have short codes. Uniform ${item}s have a narrow peak at the left of log2 of their number, here ` +
      `${words > 1 ? "at most " : ""}${fixed(Math.log2(main.distinct_count), 1)}. Bars to the right of it are ${item}s that are ` +
      `near each other: the more there are, the smaller is the table. At 32 the whole upper half is equal.` +
      `${words > 1 ? " Of each word, the first table is shown." : ""}`),
    legend(["s0", "part of the neighbours"], ["s2", "length of the code in bits (right)"]),
    make("div", { class: "multiples" }, page.groups.map(symbolChart)),
    fold("Counts and code lengths of all symbols", page.groups.map(({ first }) =>
      table(`Symbols of table ${tableName(first)}`, ["h", "neighbours", "part", "code length"], symbolsOf(tables[first])
        .filter(({ pairs, length }) => pairs > 0 || length > 0)
        .map(({ h, pairs, part, length }) => [count(h), count(pairs), percent(part), count(length)])))));
}

// ----- crowded prefixes -----

// The number of different prefixes in a table: its neighbours that differ within the prefix, and one.
const prefixCount = ({ difference_counts, prefix_bits }) => 1 + sum(difference_counts.slice(0, prefix_bits));
// The expected number among uniform fingerprints.
const uniformPrefixCount = ({ count: number, prefix_bits }) => 2 ** prefix_bits * -Math.expm1(-number / 2 ** prefix_bits);

function crowdSection() {
  if (page.looked_up === 0) return [];
  const searched = page.groups.map((group, i) => ({ ...group, i })).filter(({ radius }) => radius === null || radius >= 0);
  const chartName = (group) => groupName(group, group.i) + (words > 1 ? "" : `, ${tables[group.first].prefix_bits} key bits`);
  return section("prefixes", "How crowded prefixes are",
    paragraph(`A query reads the ${item}s that have its key bits, its prefix, in each table, and tests them. Real ${item}s crowd ` +
      `under some prefixes. Of ${count(page.looked_up)} stored fingerprints that were looked up, half find ` +
      `${rounded(sum(searched.map(({ found }) => found.median)))} or fewer to test in all tables together. Uniform ones would find ` +
      `${rounded(sum(searched.map(({ uniform }) => uniform)))}.` +
      (searched.length === page.groups.length ? "" : " Words that queries do not search are left out.")),
    legend(["s0", "from the median to 99 of 100 queries; the point is the most"], ["mark", "uniform fingerprints"]),
    rangeChart(`${words > 1 ? "Words" : "Fingerprints"} with a prefix that a query looks up`,
      words > 1 ? "different values of the word to test in its tables" : "fingerprints to test in the table",
      searched.map((group) => ({ name: chartName(group), low: group.found.median, high: group.found.p99, max: group.found.max,
        expected: group.uniform }))),
    longTable(words > 1 ? "Different values of words to test, and prefixes in all tables of a word"
      : "Fingerprints to test, and different prefixes",
      [words > 1 ? "word" : "table", "uniform", "median", "99 %", "most", "prefixes in use", "of uniform"], searched.map((group) => {
        const prefixes = sum(tablesOf(group).map(prefixCount)), uniform = sum(tablesOf(group).map(uniformPrefixCount));
        const { median, p99, max } = group.found;
        return [count(group.i), ...[group.uniform, median, p99, max, prefixes].map(rounded), percent(prefixes / uniform)];
      })));
}

// ----- blocks -----

const MAX_FILL_BINS = 24;

function fillChart() {
  const low = page.block_counts.reduce((a, b) => Math.min(a, b)), high = page.block_counts.reduce((a, b) => Math.max(a, b));
  const width = Math.floor((high - low) / MAX_FILL_BINS) + 1, bins = Array(Math.floor((high - low) / width) + 1).fill(0);
  for (const number of page.block_counts) bins[Math.floor((number - low) / width)] += 1;
  const middle = bins.length > 1 ? Math.floor(bins.length / 2) : 0;
  return histogram(`Blocks by the number of their ${item}s`, `${item}s in a block`, "s0", bins.map((number, i) => {
    const part = number / page.block_counts.length, from = low + width * i;
    return { part, tip: `from ${count(from)} on: ${percent(part)}`, label: (i === 0 || i === middle) && count(from) };
  }), { end: count(low + width * bins.length) });
}

function fillSection() {
  if (page.block_counts.length === 0) return [];
  const used = sum(tables.map(({ fill }) => fill.mean_used)) / tables.length;
  return section("fill", "How full blocks are",
    paragraph(`A block of a table has ${count(main.block_bytes)} bytes, of which ${item}s use ${percent(used)}. A writer fills it until ` +
      `the next ${item} does not fit. So the number of ${item}s varies, and the bytes do not: where ${item}s are near each other, a ` +
      "block holds more. " +
      (used < 0.9 ? "The tables are so small that they end within their only block." : "Almost no bytes are left over.") +
      (words > 1 ? " Blocks of whole fingerprints are not shown: all hold equally many." : "")),
    fillChart(),
    longTable("Blocks of each table", ["table", "blocks looked at", "used", "used, least full", item + "s", "from", "to"],
      tables.map(({ fill }, i) => [tableName(i), count(fill.block_count), percent(fill.mean_used), percent(fill.min_used),
        fixed(fill.mean_count, 1), count(fill.min_count), count(fill.max_count)])));
}

// ----- segments -----

function segmentSection() {
  const { segments, removed_count: removed } = data, first = Math.max(segments.length - MAX_SEGMENTS, 0);
  if (segments.length < 2) return [];
  return section("segments", "Segments",
    paragraph("Each addition or removal wrote a segment, and a query searches all that add. " +
      `${removed > 0 ? count(removed) : "No"} removed records still take space. `,
      code("sstore compact"), " makes one segment of all, without them."),
    first > 0 ? paragraph(`These are the newest ${MAX_SEGMENTS} of ${count(segments.length)}.`) : [],
    table("Segments, the oldest first", ["segment", "kind", "records", "distinct", "bytes", "of the store", "tables"],
      segments.slice(first).map((one, i) => [count(first + i), one.is_removal ? "removes" : "adds", count(one.record_count),
        count(one.distinct_count), count(one.total_bytes),
        percent(one.total_bytes / sizes.total), count(one.tables.length)])));
}

// ----- the page -----

const detailSections = () => [tableSection(), symbolSection(), crowdSection(), fillSection(), segmentSection()];
const parts = !isReport ? [planFigures(), planSection()]
  : [storeFigures(), clusterSection(), querySection(), sizeSection(), planSection(),
      fold("How the store is made: tables, symbols, prefixes, blocks, segments", detailSections())];
document.querySelector("header").replaceChildren(...heading());
document.querySelector("main").replaceChildren(...parts.flat());
document.querySelector("footer").replaceChildren(paragraph(`sstore ${page.version}, ${page.date}. Units are powers of 1000.`));
document.body.className = "drawn";
showTips();

// Paper has no clicks.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
