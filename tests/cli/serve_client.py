"""Starts `sstore serve`, sends it requests of all kinds, and compares the answers with brute force.

    serve_client.py [SEED]     sstore must be on the PATH; works in the current folder

SSTORE_SERVE_TEST=NAME runs only tests with NAME in theirs. SSTORE_TEST_FEW=1 starts few services where many
are started for signals and sockets to meet them at other moments.
"""

import fcntl
import http.client
import itertools
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else int(os.environ.get("SSTORE_TEST_SEED", time.time_ns() % 2**32))
RANDOM = random.Random(SEED)
FEW = os.environ.get("SSTORE_TEST_FEW") == "1"


def near_data(count, bits=64):
    """Records near each other: (fingerprint, id)."""
    centers = [RANDOM.getrandbits(bits) for _ in range(max(1, count // 20))]
    records = set()
    while len(records) < count:
        fingerprint = RANDOM.choice(centers)
        for _ in range(RANDOM.randrange(5)):
            fingerprint ^= 1 << RANDOM.randrange(bits)
        records.add((fingerprint, RANDOM.randrange(1 << RANDOM.choice([10, 64]))))
    return sorted(records)


def near_query(records, bits=64):
    fingerprint = RANDOM.choice(records)[0]
    for _ in range(RANDOM.randrange(5)):
        fingerprint ^= 1 << RANDOM.randrange(bits)
    return fingerprint


def matches(records, query, distance):
    """What a query must find: (distance, fingerprint, id)."""
    return sorted((d, f, i) for f, i in records if (d := (f ^ query).bit_count()) <= distance)


def sstore(*arguments, **options):
    return subprocess.run(["sstore", *map(str, arguments)], check=True, capture_output=True, text=True, **options)


def build(path, records, *options, bits=64):
    text = "".join(f"{fingerprint:0{bits // 4}x}\t{identifier}\n" for fingerprint, identifier in records)
    sstore("build", "--quiet", *options, path, "-", input=text)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Service:
    """A running `sstore serve`; ended, and its exit code checked, at the end of a `with`."""

    def __init__(self, *arguments, command=("sstore",), listen="127.0.0.1:0", **options):
        at = ["--listen", listen] if listen else []
        self.process = subprocess.Popen(
            [*command, "serve", "--timeout", "600", *map(str, arguments), *at], stderr=subprocess.PIPE, text=True, **options
        )
        line = self.process.stderr.readline()
        found = re.fullmatch(r"sstore: listening on (?:http://(.*):(\d+)|unix:(.*))\n", line)
        assert found, line + self.process.stderr.read()
        self.host, port, self.unix = found.groups()
        self.port = int(port or 0)
        self.connection = self.connect()

    def connect(self):
        return UnixConnection(self.unix) if self.unix else http.client.HTTPConnection(self.host, self.port, timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        rest = self.process.communicate(timeout=60)[1]
        if kind is None:
            assert self.process.returncode == 0, (self.process.returncode, rest)
            assert rest == "", rest
        else:
            print(rest, file=sys.stderr)

    def send(self, method, path, body=None, connection=None, **headers):
        """The status and the body of a request."""
        if body is not None:
            binary = isinstance(body, bytes)
            headers.setdefault("content_type", "application/octet-stream" if binary else "application/json")
            body = body if binary or isinstance(body, str) else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = connection or self.connection
        connection.request(method, path, body, named)
        response = connection.getresponse()
        return response.status, response.read(), response

    def get(self, path, status=200, **headers):
        found, body, _ = self.send("GET", path, **headers)
        assert found == status, (path, found, body)
        return json.loads(body)

    def post(self, path, body, status=200, **headers):
        found, answer, _ = self.send("POST", path, body, **headers)
        assert found == status, (path, found, answer[:500])
        return json.loads(answer)

    def rows(self, path, queries, bits=64):
        """The answer in binary, as the JSON results."""
        status, answer, response = self.send("POST", path, b"".join(packed(query, bits) for query in queries))
        assert status == 200 and response.getheader("Content-Type") == "application/octet-stream", answer
        found = [[] for _ in queries]
        for index, *words, identifier, distance, store in struct.iter_unpack(f"<Q{bits // 64}QQII", answer):
            if distance == 2**32 - 1:  # the query has no answer, for this reason
                assert store == 2**32 - 1 and found[index] == [] and words == [queries[index]]
                found[index] = identifier
                continue
            found[index].append((distance, int("".join(f"{word:016x}" for word in words), 16), identifier))
        return found

    def metrics(self):
        status, body, response = self.send("GET", "/metrics")
        assert status == 200 and response.getheader("Content-Type").startswith("text/plain; version=0.0.4")
        return {
            name: float(value)
            for name, value in (line.rsplit(" ", 1) for line in body.decode().splitlines() if not line.startswith("#"))
        }

    def open_files(self):
        folder = f"/proc/{self.process.pid}/fd"
        return [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]

    def refresh(self):
        """Let the service look for newer states before a second is over."""
        self.process.send_signal(signal.SIGHUP)

    def wait_for(self, condition):
        """Wait until the metrics meet a condition."""
        while not condition(self.metrics()):
            time.sleep(0.02)


def results(answer):
    """The matches of each query of a JSON answer."""
    return [
        [(m["distance"], int(m["fingerprint"], 16), int(m["id"]) if m["id"] is not None else 0) for m in r["matches"]]
        for r in answer["results"]
    ]


def hexed(queries, bits=64):
    return [f"{query:x}" if bits == 64 else f"{query:0{bits // 4}x}" for query in queries]


def packed(fingerprint, bits=64):
    """In binary: words of 64 bits, the most significant first, each little-endian."""
    return b"".join(struct.pack("<Q", fingerprint >> shift & 2**64 - 1) for shift in range(bits - 64, -1, -64))


def test_queries():
    records = near_data(1000)
    build("queries.store", records)
    with Service("queries.store", "--threads", 2, "--max-matches", "10M") as service:
        for count in [1, 2, 16, 17, 300, 20000]:
            distinct = [near_query(records) for _ in range(min(count, 300))]
            queries = [RANDOM.choice(distinct) for _ in range(count)]
            for distance in range(4):
                found = {query: matches(records, query, distance) for query in distinct}
                expected = [found[query] for query in queries]
                answer = service.post("/v1/query", {"fingerprints": hexed(queries), "k": distance})
                assert results(answer) == expected
                assert [int(r["query"], 16) for r in answer["results"]] == queries
                assert [r["match_count"] for r in answer["results"]] == [len(e) for e in expected]
                assert service.rows(f"/v1/query?k={distance}", queries) == expected
                got = service.get(f"/v1/query?fp={queries[0]:016X}&k={distance}")
                assert results(got) == expected[:1]
            limited = service.post("/v1/query?limit=1", {"fingerprints": hexed(queries)})
            assert results(limited) == [e[:1] for e in expected]
            assert [r["match_count"] for r in limited["results"]] == [len(e) for e in expected]
            assert service.rows("/v1/query?limit=1", queries) == [e[:1] for e in expected]
        for query in [near_query(records) for _ in range(100)]:
            found = matches(records, query, 3)
            nearest = [m for m in found if m[0] == found[0][0]]
            assert results(service.get(f"/v1/nearest?fp={query:x}")) == [nearest]
            assert service.rows("/v1/nearest", [query, query]) == [nearest, nearest]
        status, body, response = service.send("GET", f"/v1/query?fp={records[0][0]:x}", Accept="application/octet-stream")
        assert status == 200 and len(body) % 32 == 0 and len(body) > 0
        status, body, _ = service.send("HEAD", f"/v1/query?fp={records[0][0]:x}")
        assert (status, body) == (200, b"")
        assert service.post("/v1/query", {"fingerprints": []}) == {"results": []}
        assert service.rows("/v1/query", []) == []


def test_ids():
    """Only records whose ids are in a range are found: one by one, together, and the nearest. The next request has all."""
    records = near_data(1000)
    build("ids.store", records)
    ids = sorted(record[1] for record in records)
    with Service("ids.store", "--max-matches", "10M") as service:
        for first, last in [(ids[100], ids[600]), (0, ids[9]), (ids[900], 2**64 - 1), (ids[5], ids[5])]:
            written = RANDOM.choice([f"{first}-{last}"] + [f"-{last}"] * (first == 0) + [f"{first}-"] * (last == 2**64 - 1))
            allowed = [record for record in records if first <= record[1] <= last]
            for count in [1, 40]:
                queries = [near_query(records) for _ in range(count)]
                expected = [matches(allowed, query, 3) for query in queries]
                nearest = [[m for m in e if m[0] == e[0][0]] for e in expected]
                answer = service.post("/v1/query", {"fingerprints": hexed(queries), "ids": written})
                assert results(answer) == expected
                assert service.rows(f"/v1/query?ids={written}", queries) == expected
                limited = service.post(f"/v1/query?limit=1&ids={written}", {"fingerprints": hexed(queries)})
                assert results(limited) == [e[:1] for e in expected]
                assert [r["match_count"] for r in limited["results"]] == [len(e) for e in expected]
                assert service.rows(f"/v1/nearest?ids={written}", queries) == nearest
                assert service.rows(f"/v1/nearest?ids={written}&limit=2", queries) == [e[:2] for e in expected]
                assert service.rows("/v1/query", queries) == [matches(records, query, 3) for query in queries]
    many = sorted({(record[0], 7) for record in records[:40]} | set(records[40:]))
    build("many.store", many, "--id-index")
    with Service("many.store", "--max-matches", "10M") as service:
        for number in [7, *(record[1] for record in records[40:60])]:
            own = sorted(value for value, identifier in many if identifier == number)
            others = [record for record in many if record[1] != number]
            for path, among, limit in [("query", others, None), ("nearest", others, 1), ("query", many, None)]:
                asked = f"/v1/{path}?id={number}&exclude_self={int(among is others)}" + (f"&limit={limit}" if limit else "")
                answer = service.get(asked)
                found = sorted(zip([int(r["query"], 16) for r in answer["results"]], results(answer)))
                assert found == [(value, matches(among, value, 3)[:limit]) for value in own], asked
    sstore("build", "--quiet", "--no-ids", "unnumbered.store", "-", input="1\n")
    with Service("unnumbered.store") as service:
        for path in ["/v1/query?fp=1&ids=1-2", "/v1/nearest?fp=1&ids=7"]:
            assert "the store has no ids" in service.get(path, status=400)["error"]


def test_wide_distances():
    records = near_data(300)
    build("wide.store", records)
    with Service("wide.store", "--max-distance", 64, "--max-matches", 250) as service:
        query = near_query(records)
        for distance in [0, 3, 4, 10, 20, 30]:
            expected = matches(records, query, distance)
            if len(expected) <= 250:
                assert results(service.get(f"/v1/query?fp={query:x}&k={distance}")) == [expected]
        service.get(f"/v1/query?fp={query:x}&k=64", status=422)
        limited = service.get(f"/v1/query?fp={query:x}&k=64&limit=1")
        assert results(limited) == [matches(records, query, 64)[:1]] and limited["results"][0]["match_count"] == 300
        far = RANDOM.getrandbits(64)
        everything = matches(records, far, 64)
        assert results(service.get(f"/v1/nearest?fp={far:x}")) == [[m for m in everything if m[0] == everything[0][0]]]


def test_hot_queries():
    """A query with too many matches fails alone, and none fails with a limit: of one or several stores, one by one or
    together."""
    max_matches = 100
    hot = [(0, i) for i in range(300)] + [(1, i) for i in range(300, 330)]
    stores = {"hot.store": hot + near_data(300), "other.store": [(0, 1000 + i) for i in range(40)] + near_data(300)}
    apart = 0xF0F0 << 32  # its nearest records in the stores are not equally near
    stores["hot.store"] += [(apart ^ 3, 5000), (apart ^ 3, 5001)]
    stores["other.store"].append((apart ^ 1, 5002))
    for name, records in stores.items():
        build(name, records)
    for names in [["hot.store"], ["hot.store", "other.store"]]:
        records = [record for name in names for record in stores[name]]
        with Service(*names, "--max-matches", max_matches) as service:
            for count in [1, 2, 16, 17, 60]:
                queries = [0, apart, *(near_query(records) for _ in range(count))][:count]
                RANDOM.shuffle(queries)
                for distance, route in [(0, "query"), (1, "query"), (3, "nearest")]:
                    check_hot_queries(service, names, route, records, queries, distance, max_matches)


def test_beaten_stores():
    """Matches of a store whose records are not the nearest ones take no room, in whatever order the stores are."""
    max_matches = 60
    query, other = 0x5A5A << 16, 0xA5A5 << 40
    far, middle, near = ([(query ^ (1 << bits) - 1, i) for i in range(count)] for bits, count in [(3, 50), (2, 70), (1, 40)])
    parts = {"far.store": far, "middle.store": middle, "near.store": near + [(other, 9), (other, 10)]}
    for name, records in parts.items():
        build(name, records)
    expected = {query: near, other: parts["near.store"][-2:]}
    for names in itertools.permutations(parts):
        with Service(*names, "--max-matches", max_matches) as service:
            for queries in [[query], [query, other], [other, query]]:
                wanted = [sorted((0 if q == other else 1, f, i) for f, i in expected[q]) for q in queries]
                answer = service.post("/v1/nearest?k=3", {"fingerprints": hexed(queries)})
                assert results(answer) == wanted, (names, queries, answer)
                assert [r["match_count"] for r in answer["results"]] == [len(w) for w in wanted]
                assert service.rows("/v1/nearest?k=3", queries) == wanted
            # With a limit, the next nearest ones follow.
            for limit in [1, 30, 40, 45, 60]:
                wanted = [matches(far + middle + near, query, 3)[:limit]]
                answer = service.post(f"/v1/nearest?k=3&limit={limit}", {"fingerprints": hexed([query])})
                assert results(answer) == wanted, (names, limit, answer)
                assert answer["results"][0]["match_count"] == limit
                assert service.rows(f"/v1/nearest?k=3&limit={limit}", [query]) == wanted
    # Equally near ones of several stores count together.
    build("more.store", [(f, 1000 + i) for f, i in near])
    with Service("far.store", "near.store", "more.store", "--max-matches", max_matches) as service:
        answer = service.post("/v1/nearest?k=3", {"fingerprints": hexed([query, other])})
        assert "more than 60" in answer["results"][0]["error"] and answer["results"][1]["match_count"] == 2
        answer = service.post("/v1/nearest?k=3&limit=50", {"fingerprints": hexed([query])})
        assert [d for d, _, _ in results(answer)[0]] == [1] * 50


def without_room(expected, room):
    """Whether each query fails: its matches do not fit beside those of the queries before it."""
    failed = []
    for found in expected:
        failed.append(len(found) > room)
        room -= 0 if failed[-1] else len(found)
    return failed


def check_hot_queries(service, names, route, records, queries, distance, max_matches):
    path = f"/v1/{route}?k={distance}"
    expected = [matches(records, query, distance) for query in queries]
    for limit in [0, 1, 5, max_matches, 10**12]:
        answer = service.post(f"{path}&limit={limit}", {"fingerprints": hexed(queries)})
        listed = results(answer)
        counted = listed if route == "nearest" else expected
        assert [r["match_count"] for r in answer["results"]] == [len(e) for e in counted]
        for found, wanted in zip(listed, expected, strict=True):
            assert found == wanted[: len(found)] and len(found) <= min(limit, max_matches)
            assert len(found) >= min(limit, len(wanted), max(1, max_matches // len(queries)))
        if sum(min(limit, len(e)) for e in expected) <= max_matches:
            assert listed == [e[:limit] for e in expected]
        if limit > 0:
            assert service.rows(f"{path}&limit={limit}", queries) == listed
    # Without a limit, the matches of all queries fit together, or some queries fail.
    if route == "nearest":
        expected = [[m for m in e if m[0] == e[0][0]] for e in expected]
    status, body, _ = service.send("POST", path, {"fingerprints": hexed(queries)})
    failed = 0
    if status == 200:
        answers = json.loads(body)["results"]
        for answer, wanted in zip(answers, expected, strict=True):
            if "error" in answer:
                assert answer["error"].startswith(f"more than {max_matches} matches: ask for a limit"), answer
                assert answer.keys() == {"query", "error"}
                failed += 1
            else:
                assert results({"results": [answer]}) == [wanted] and answer["match_count"] == len(wanted)
        assert failed < len(queries) and sum(len(r.get("matches", [])) for r in answers) <= max_matches
        assert ["error" in answer for answer in answers] == without_room(expected, max_matches)
    assert (status == 200) == any(len(e) <= max_matches for e in expected), (status, body[:200])
    # In binary, the same queries fail.
    if status == 200:
        assert service.rows(path, queries) == [1 if "error" in a else w for a, w in zip(answers, expected, strict=True)]
    else:
        assert service.send("POST", path, b"".join(packed(query) for query in queries))[0] == 422


def test_wide_stores():
    """All routes on stores of several words."""
    for bits in [128, 256, 1024]:
        records = near_data(500, bits)
        build(f"{bits}.store", records, "-k", 8, bits=bits)
        with Service(f"{bits}.store", "--write", "--max-distance", bits, "--max-matches", "10M") as service:
            check_wide_queries(service, f"{bits}.store", records, bits)
            records = check_wide_writes(service, set(records), bits)
            check_wide_refusals(service, bits)
            stat = service.get("/v1/stat")["stores"][0]["stat"]
            assert (stat["record_count"], stat["fingerprint_bits"]) == (len(records), bits)
            assert service.metrics()[f'sstore_store_records{{store="{bits}.store"}}'] == len(records)
        dumped = [line.split("\t") for line in sstore("dump", f"{bits}.store").stdout.splitlines()]
        assert sorted((int(fingerprint, 16), int(identifier)) for fingerprint, identifier in dumped) == sorted(records)
        sstore("verify", "--quiet", f"{bits}.store")
        beyond = subprocess.run(["sstore", "serve", f"{bits}.store", "--max-distance", str(bits + 1)], capture_output=True, text=True)
        assert beyond.returncode == 2 and f"0 to {bits}, found" in beyond.stderr, beyond


def check_wide_queries(service, store, records, bits):
    for count in [1, 16, 17, 200]:
        queries = [near_query(records, bits) for _ in range(count)]
        for distance in [0, 5, 8, 20, bits if count == 1 else 9]:
            expected = [matches(records, query, distance) for query in queries]
            answer = service.post("/v1/query", {"fingerprints": hexed(queries, bits), "k": distance})
            assert results(answer) == expected
            assert [r["query"] for r in answer["results"]] == hexed(queries, bits)
            assert [r["match_count"] for r in answer["results"]] == [len(e) for e in expected]
            plain = json.dumps({"fingerprints": hexed(queries, bits), "k": distance})
            escaped = re.sub(r'(?<=\[").', lambda digit: f"\\u{ord(digit[0]):04x}", plain)  # for the parser
            assert escaped != plain and service.post("/v1/query", escaped) == answer
            assert service.rows(f"/v1/query?k={distance}", queries, bits) == expected
            fingerprint = f"{queries[0]:0{bits // 4}X}"
            assert results(service.get(f"/v1/query?fp={fingerprint}&k={distance}")) == expected[:1]
        lines = sstore("query", store, *hexed(queries, bits)).stdout.splitlines()
        answer = service.post("/v1/query", {"fingerprints": hexed(queries, bits)})
        assert lines == ["\t".join([r["query"], m["fingerprint"], str(m["distance"]), m["id"]]) for r in answer["results"] for m in r["matches"]]
        nearest = [[m for m in e if m[0] == e[0][0]] for e in (matches(records, query, bits) for query in queries)]
        assert results(service.post("/v1/nearest", {"fingerprints": hexed(queries, bits)})) == nearest
        assert service.rows("/v1/nearest", queries, bits) == nearest
        assert service.rows("/v1/nearest?limit=1", queries, bits) == [m[:1] for m in nearest]


def check_wide_writes(service, records, bits):
    def given(some):
        return [{"fingerprint": f"{f:0{bits // 4}x}", "id": i if i < 10**9 and i % 2 else str(i)} for f, i in some]

    def rows(some):
        return b"".join(packed(f, bits) + struct.pack("<Q", i) for f, i in some)

    new = [(RANDOM.getrandbits(bits), 10**6 + i) for i in range(40)]
    assert service.post("/v1/records", {"records": given(new[:20])})["record_count"] == len(records) + 20
    assert service.post("/v1/records", rows(new[20:]))["record_count"] == len(records) + 40
    records.update(new)
    answer = service.post("/v1/records", {"records": [{"fingerprint": "0" * (bits // 4)}]})
    records.add((0, int(answer["first_id"])))
    for distance in [8, 2, bits // 4]:
        offered = [(near_query(sorted(records), bits) if i % 2 else RANDOM.getrandbits(bits), 2 * 10**6 + i) for i in range(40)]
        body = rows(offered) if distance == 2 else {"records": given(offered)}
        answer = service.post(f"/v1/offer?k={distance}&limit=2", body)
        for (fingerprint, identifier), result in zip(offered, answer["results"], strict=True):
            expected = matches(records, fingerprint, distance)
            assert results({"results": [result]}) == [expected[:2]] and result["match_count"] == len(expected)
            assert result["fingerprint"] == f"{fingerprint:0{bits // 4}x}"
            assert result["is_new"] == (not expected) and int(result["id"]) == identifier
            if not expected:
                records.add((fingerprint, identifier))
    service.post("/v1/offer", {"records": given(new), "k": bits // 4 + 1}, status=400)

    gone = RANDOM.sample(sorted(records), 30)
    records.difference_update(gone)
    service.post("/v1/remove", {"records": given(gone[:15])})
    assert service.post("/v1/remove", rows(gone[15:]))["record_count"] == len(records)
    gone = {f for f, _ in RANDOM.sample(sorted(records), 5)}
    records = {(f, i) for f, i in records if f not in gone}
    answer = service.post("/v1/remove", {"records": [{"fingerprint": f"{f:0{bits // 4}x}"} for f in gone]})
    assert answer["record_count"] == len(records), answer
    query = near_query(sorted(records), bits)
    assert results(service.post("/v1/query", {"fingerprints": hexed([query], bits)})) == [matches(records, query, 8)]
    return records


def check_wide_refusals(service, bits):
    digits, found = bits // 4, "expected a fingerprint of %d bits, found one of %d bits"
    refused = [
        ("GET", "/v1/query", None, f"a fingerprint of {bits} bits"),
        ("GET", "/v1/query?fp=1", None, found % (bits, 64)),
        ("GET", "/v1/query?fp=" + "a" * (digits - 1), None, f"of {digits} hex digits"),
        ("GET", "/v1/query?fp=" + "a" * (digits + 1), None, f"of {digits} hex digits"),
        ("GET", "/v1/nearest?fp=" + "a" * (digits - 16), None, found % (bits, bits - 64)),
        ("GET", f"/v1/query?fp={'a' * digits}&k={bits + 1}", None, f"0 to {bits}"),
        ("POST", "/v1/query", {"fingerprints": ["a" * digits, "1"]}, "fingerprints[1]: " + found % (bits, 64)),
        ("POST", "/v1/query", {"fingerprints": ["g" * digits]}, f"fingerprints[0]: expected a fingerprint of {digits} hex digits"),
        ("POST", "/v1/query", {"fingerprints": [1]}, f"a fingerprint of {bits} bits"),
        ("POST", "/v1/records", {"records": [{"fingerprint": "1"}]}, "records[0].fingerprint: " + found % (bits, 64)),
        ("POST", "/v1/offer", {"records": [{"fingerprint": "1"}]}, found % (bits, 64)),
        ("POST", "/v1/remove", {"records": [{"fingerprint": "1"}]}, found % (bits, 64)),
        ("POST", "/v1/query", bytes(bits // 8 + 8), f"a multiple of {bits // 8}, for fingerprints of {bits} bits"),
        ("POST", "/v1/records", bytes(bits // 8), f"a multiple of {bits // 8 + 8}, for fingerprints of {bits} bits and ids"),
    ]
    for method, path, body, words in refused:
        status, answer, _ = service.send(method, path, body)
        assert status == 400 and words in json.loads(answer)["error"], (method, path, body, status, answer)


def test_widths():
    """Stores of one width are served together. A state of another width is refused, also by writes."""
    records = near_data(200, 128)
    build("left.store", records[::2], bits=128)
    build("right.store", records[1::2], bits=128)
    build("narrow.store", near_data(50))
    mixed = subprocess.run(["sstore", "serve", "narrow.store", "left.store"], capture_output=True, text=True)
    assert mixed.returncode == 1 and "left.store: its fingerprints have 128 bits" in mixed.stderr, mixed
    with Service("left.store", "right.store") as service:
        queries = [near_query(records, 128) for _ in range(20)]
        expected = [matches(records, query, 3) for query in queries]
        assert results(service.post("/v1/query", {"fingerprints": hexed(queries, 128)})) == expected
        assert service.rows("/v1/query", queries, 128) == expected
        nearest = service.post("/v1/nearest", {"fingerprints": hexed(queries, 128)})
        assert results(nearest) == [[m for m in e if m[0] == e[0][0]] for e in expected]

    service = Service("left.store", "--write", "--refresh", 86400)
    build("left.store", [(1, 1)], "--force")
    service.refresh()
    service.wait_for(lambda metrics: metrics["sstore_refresh_failures_total"] == 1)
    assert results(service.post("/v1/query", {"fingerprints": hexed([records[0][0]], 128)})) == [
        matches(records[::2], records[0][0], 3)
    ]
    for path in ["/v1/records", "/v1/offer", "/v1/remove"]:
        answer = service.post(path, {"records": [{"fingerprint": "1" * 32, "id": 5}]}, status=500)
        assert "64 bits" in answer["error"], answer
    assert sstore("dump", "left.store").stdout == "0000000000000001\t1\n"
    build("left.store", records, "--force", bits=128)
    service.refresh()
    service.wait_for(lambda metrics: metrics['sstore_store_records{store="left.store"}'] == 200)
    service.process.send_signal(signal.SIGINT)
    messages = service.process.communicate(timeout=60)[1].splitlines()
    assert service.process.returncode == 0 and messages, messages
    assert all("64 bits" in line for line in messages), messages


def test_padded_stores():
    """Fingerprints whose bits --pad filled up: of their own size, or with the zeros, and never with something else."""
    for bits in [36, 168, 1000]:
        rest = -bits % 64
        records = {(f << rest, i) for f, i in near_data(150, bits)}
        text = "".join(f"{f >> rest:0{bits // 4}x}\t{i}\n" for f, i in records)
        sstore("build", "--quiet", "--force", "--pad", "padded.store", "-", input=text)
        with Service("padded.store", "--write") as service:
            check_padded(service, records, bits, rest)
        dumped = sstore("dump", "--no-comments", "padded.store").stdout.splitlines()
        found = {(int(line.split()[0], 16), int(line.split()[1])) for line in dumped}
        assert found == records
        sstore("add", "--quiet", "padded.store", "-", input=text)  # what was written can be read
        sstore("query", "--count", "--input", "-", "padded.store", input=sstore("dump", "padded.store").stdout)
    service = Service("padded.store", "--write", "--refresh", 86400)
    sstore("build", "--quiet", "--force", "--pad", "padded.store", "-", input="0" * 249 + "\t1\n")
    for path in ["/v1/records", "/v1/offer", "/v1/remove"]:
        answer = service.post(path, {"records": [{"fingerprint": "1" * 250, "id": 5}]}, status=500)
        assert "'996 bits, padded'" in answer["error"], answer
    service.process.send_signal(signal.SIGINT)
    messages = service.process.communicate(timeout=60)[1].splitlines()
    assert service.process.returncode == 0 and len(messages) == 3, messages
    assert sstore("dump", "--no-comments", "padded.store").stdout == "0" * 256 + "\t1\n"
    build("full.store", near_data(9, 1024), bits=1024)
    mixed = subprocess.run(["sstore", "serve", "padded.store", "full.store"], capture_output=True, text=True)
    assert mixed.returncode == 1 and "1024 bits, those of the stores before it 996" in mixed.stderr, mixed


def check_padded(service, records, bits, rest):
    full, own = bits + rest, bits // 4
    def short(fingerprint):
        return f"{fingerprint >> rest:0{own}x}"

    queries = [near_query(sorted(records), full) >> rest << rest for _ in range(30)]
    expected = [matches(records, query, 3) for query in queries]
    for forms in [[short(query) for query in queries], [f"{query:0{full // 4}x}" for query in queries]]:
        assert results(service.post("/v1/query", {"fingerprints": forms})) == expected
        assert results(service.get(f"/v1/query?fp={forms[0]}")) == expected[:1]
        assert results(service.get(f"/v1/nearest?fp={forms[0]}")) == [[m for m in expected[0] if m[0] == expected[0][0][0]]]
    assert service.rows("/v1/query", queries, full) == expected

    new = [(RANDOM.getrandbits(bits) << rest, 10**6 + i) for i in range(40)]
    given = [{"fingerprint": short(f) if i % 2 else f"{f:0{full // 4}x}", "id": i} for f, i in new]
    service.post("/v1/records", {"records": given[:10]})
    service.post("/v1/records", b"".join(packed(f, full) + struct.pack("<Q", i) for f, i in new[10:20]))
    assert all(result["is_new"] for result in service.post("/v1/offer", {"records": given[20:], "k": 0})["results"])
    records.update(new)
    service.post("/v1/remove", {"records": given[:5]})
    records.difference_update(new[:5])

    # A bit behind the others would be one in which they can differ; but the last byte may hold its bits anywhere.
    odd = new[0][0] | 1 << RANDOM.randrange(rest - -bits % 8)
    wrong = [f"{odd:0{full // 4}x}", "1" * (own - 1), "1" * (own + 1)]
    for form in wrong:
        for path, key in [("/v1/records", "records"), ("/v1/offer", "records"), ("/v1/remove", "records"), ("/v1/query", "fingerprints")]:
            rows = [{"fingerprint": form, "id": 1} if key == "records" else form]
            error = service.post(path, {key: rows}, status=400)["error"]
            assert f"expected a fingerprint of {own} hex digits" in error or f"of {bits} bits" in error, error
        assert "error" in service.get(f"/v1/query?fp={form}", status=400)
    for path in ["/v1/records", "/v1/offer", "/v1/remove"]:
        good = packed(new[0][0], full) + struct.pack("<Q", 1)
        answer = service.post(path, good + packed(odd, full) + struct.pack("<Q", 1), status=400)
        assert answer["error"] == f"row 1: expected zeros behind the {bits} bits of a fingerprint", answer
    assert "zeros behind" in service.post("/v1/query", packed(odd, full), status=400)["error"]
    answer = service.post("/v1/records", {"records": [given[20], {"fingerprint": wrong[0], "id": 3}], "skip_bad": True})
    assert answer["bad_count"] == 1, answer


def test_several_stores():
    records = near_data(600)
    parts = {"a": records[::2], "b": records[1::2]}
    for name, part in parts.items():
        build(f"{name}.store", part)
    os.makedirs("other", exist_ok=True)
    build("other/a.store", [])
    same = subprocess.run(["sstore", "serve", "a.store", "other/a.store"], capture_output=True, text=True)
    assert same.returncode == 1 and "same name" in same.stderr, same
    with Service("a.store", "./b.store/") as service:
        for count in [1, 40]:
            queries = [near_query(records) for _ in range(count)]
            expected = [matches(records, query, 3) for query in queries]
            answer = service.post("/v1/query", {"fingerprints": hexed(queries)})
            assert results(answer) == expected
            owner = {record: f"{name}.store" for name, part in parts.items() for record in part}
            for result in answer["results"]:
                for match in result["matches"]:
                    assert match["store"] == owner[int(match["fingerprint"], 16), int(match["id"])]
            assert service.rows("/v1/query", queries) == expected
            answer = service.post("/v1/query", {"fingerprints": hexed(queries), "store": "b.store"})
            assert results(answer) == [matches(parts["b"], query, 3) for query in queries]
            nearest = service.post("/v1/nearest", {"fingerprints": hexed(queries)})
            assert results(nearest) == [[m for m in e if m[0] == e[0][0]] for e in expected]
        assert [s["store"] for s in service.get("/v1/stat")["stores"]] == ["a.store", "b.store"]
        assert [s["stat"]["record_count"] for s in service.get("/v1/stat?store=b.store")["stores"]] == [300]
        service.get("/v1/query?fp=1&store=c.store", status=404)


def test_chosen_stores():
    """A request asks the stores that it names. The ids of queries are those of the first one."""
    parts = {f"{name}.chosen": near_data(300) for name in "abc"}
    shared = parts["a.chosen"][:100]
    parts["b.chosen"] = sorted({*parts["b.chosen"], *shared})
    for name, part in parts.items():
        build(name, part, "--id-index")

    def listed(answer):
        return [[(m["distance"], int(m["fingerprint"], 16), int(m["id"]), m["store"]) for m in r["matches"]]
                for r in answer["results"]]

    def model(names, query, distance, own=None):
        return sorted((*match, name) for name in names
                      for match in matches([r for r in parts[name] if name != names[0] or r[1] != own], query, distance))

    with Service(*parts, "--max-matches", "10M") as service:
        for names in [names for count in [1, 2, 3] for names in itertools.permutations(parts, count)]:
            chosen = "&".join(["store=" + names[0], *("also=" + name for name in names[1:])])
            named = {"store": names[0], **({"also": names[1:]} if len(names) > 1 else {})}
            for count in [1, 40]:
                queries = [near_query(RANDOM.choice(list(parts.values()))) for _ in range(count)]
                expected = [model(names, query, 3) for query in queries]
                assert listed(service.post("/v1/query", {"fingerprints": hexed(queries), **named})) == expected
                limited = service.post(f"/v1/query?limit=2&{chosen}", {"fingerprints": hexed(queries)})
                assert listed(limited) == [e[:2] for e in expected]
                assert [r["match_count"] for r in limited["results"]] == [len(e) for e in expected]
                nearest = service.post("/v1/nearest", {"fingerprints": hexed(queries), **named})
                assert listed(nearest) == [[m for m in e if m[0] == e[0][0]] for e in expected]
                assert listed(service.get(f"/v1/query?fp={queries[0]:x}&{chosen}")) == expected[:1]
            for _, number in RANDOM.sample(parts[names[0]], 5) + shared[:5]:
                own = sorted(value for value, identifier in parts[names[0]] if identifier == number)
                if not own:
                    service.get(f"/v1/query?id={number}&{chosen}", status=404)
                    continue
                answer = service.get(f"/v1/query?id={number}&exclude_self=1&{chosen}")
                assert [int(r["query"], 16) for r in answer["results"]] == own
                assert listed(answer) == [model(names, value, 3, number) for value in own]
        for path, status, error in [("fp=1&also=a.chosen", 400, "first store in 'store'"),
                                    ("fp=1&store=a.chosen&also=a.chosen", 400, "named twice"),
                                    ("fp=1&store=a.chosen&also=d.chosen", 404, "no store 'd.chosen'")]:
            assert error in service.get(f"/v1/query?{path}", status=status)["error"]
        for also, error in [("b.chosen", "expected a list of strings"), ([1], "expected strings")]:
            body = {"fingerprints": ["1"], "store": "a.chosen", "also": also}
            assert error in service.post("/v1/query", body, status=400)["error"]


def test_queries_with_ids():
    """Each query of a body leaves out the records that have its id or its name, and its answer says whose it is."""
    records = near_data(400)
    numbers = [identifier for _, identifier in records]
    records = sorted({*records, *((near_query(records), RANDOM.choice(numbers)) for _ in range(200))})
    names = {number: f"page {number}\u00e4" for number in numbers}
    own_records, other = records, sorted({*near_data(200), *records[:100]})
    for store, rows in [("own.queries", records), ("other.queries", other)]:
        build(store, rows)
    lines = "".join(json.dumps({"fingerprint": f"{f:016x}", "name": names[i]}) + "\n" for f, i in records)
    sstore("build", "--quiet", "--names", "named.queries", "-", "--format", "jsonl", input=lines)

    def given(queries, key, names):
        return [{"fingerprint": f"{f:x}", key: names[i]} for f, i in queries]

    with Service("own.queries", "other.queries", "named.queries", "--max-matches", "10M") as service:
        ids = {i: int(service.get(f"/v1/records/{urllib.parse.quote(name)}?store=named.queries")["records"][0]["id"])
               for i, name in names.items()}
        named_records = sorted((f, ids[i]) for f, i in records)
        names = {ids[i]: name for i, name in names.items()} | {5000: "no record"}
        for store, also in [("own.queries", []), ("own.queries", ["other.queries"]), ("named.queries", ["other.queries"])] * 2:
            for count in [1, 40, 300]:
                records = named_records if store == "named.queries" else own_records
                numbers = [*(identifier for _, identifier in records), 5000]
                queries = [(near_query(records), RANDOM.choice(numbers)) for _ in range(count)]
                named = store == "named.queries" and RANDOM.random() < 0.7
                key, keys = ("name", names) if named else ("id", {i: str(i) for i in numbers})
                rest = {"store": store, "also": also, "exclude_self": True}
                expected = []
                for query, own in queries:
                    found = matches([r for r in records if r[1] != own], query, 3)
                    expected.append(sorted(found + matches(other if also else [], query, 3)))
                body = {"queries": given(queries, key, keys), **rest}
                answer = service.post("/v1/query", body)
                assert results(answer) == expected
                assert [r["query_" + key] for r in answer["results"]] == [keys[i] for _, i in queries]
                nearest = [[m for m in e if m[0] == e[0][0]] for e in expected]
                assert results(service.post("/v1/nearest", body)) == nearest
                for path in ["query", "nearest"]:
                    assert results(service.post(f"/v1/{path}?limit=2", body)) == [e[:2] for e in expected]
                body["exclude_self"] = False
                everything = [sorted(matches(records, f, 3) + matches(other if also else [], f, 3)) for f, _ in queries]
                assert results(service.post("/v1/query", body)) == everything
                if not also:
                    rows = b"".join(packed(f) + packed(i) for f, i in queries)
                    status, found, _ = service.send("POST", f"/v1/query?exclude_self=1&store={store}", rows)
                    wanted = [(index, f, i, d) for index, e in enumerate(expected) for d, f, i in e]
                    assert status == 200 and [row[:4] for row in struct.iter_unpack("<QQQII", found)] == wanted
        bad = [{"fingerprint": "1"}, {"fingerprint": "1", "id": "x"}, {"id": 7}, {"fingerprint": "1", "id": 7, "name": "x"}]
        records = own_records
        good = {"fingerprint": f"{records[0][0]:x}", "id": records[0][1]}
        for row in bad:
            status, body, _ = service.send("POST", "/v1/query", {"queries": [good, row], "store": "own.queries"})
            assert status == 400 and b"queries[1]" in body, body
        answer = service.post("/v1/query?store=own.queries&k=0&skip_bad=1&exclude_self=1", {"queries": [bad[1], good, *bad]})
        wanted = matches([r for r in records if r[1] != records[0][1]], records[0][0], 0)
        assert [r["index"] for r in answer["results"]] == [1] and results(answer) == [wanted] and answer["bad_count"] == 5
        for body, error in [({"fingerprints": ["1"], "exclude_self": True}, "or 'queries' that have one"),
                            ({"queries": [good], "exclude_self": True}, "choose one with 'store'"),
                            ({"queries": [good], "texts": []}, "'texts' or 'queries'"),
                            ({"queries": [good], "exclude_self": 1}, "true or false")]:
            assert error in service.post("/v1/query", body, status=400)["error"], body
        assert service.post("/v1/query", {"queries": [], "exclude_self": True, "store": "own.queries"}) == {"results": []}


def grouped(parts, group, distance, own=None):
    """What a group must find: (distance, fingerprint, id, store, nearest query, how many are near). Records of the first
    store with the id `own` are left out."""
    found = []
    for store, (name, records) in enumerate(parts.items()):
        for value, number in records:
            far = [(value ^ query).bit_count() for query in group]
            if min(far) <= distance and (store > 0 or number != own):
                near = sum(one <= distance for one in far)
                found.append((min(far), value, number, name, group[far.index(min(far))], near))
    return sorted(found)


def nearest_only(parts, group, distance, own=None):
    found = grouped(parts, group, distance, own)
    return grouped(parts, group, found[0][0], own) if found else []


def choose_groups(records, count, bits=64):
    """Queries with ids: groups of one to five, most of them near each other."""
    queries = []
    for number in RANDOM.sample([*{i for _, i in records}, *range(10**6, 10**6 + 50)], count):
        center = near_query(records, bits)
        queries += [(center ^ (1 << RANDOM.randrange(bits)) * RANDOM.randrange(2), number) for _ in range(RANDOM.randint(1, 5))]
    return queries


def test_groups():
    """Consecutive queries with the same id or name are answered as one, as the command does it."""
    for bits in [64, 128]:
        names = [f"{name}{bits}.groups" for name in "ab"]
        stores = {name: near_data(300, bits) for name in names}
        for name, records in stores.items():
            build(name, records, "--id-index", bits=bits)
        with Service(*names, "--max-matches", "10M") as service:
            for also, count in itertools.product([[], names[1:]], [1, 4, 60]):
                check_groups(service, {name: stores[name] for name in [names[0], *also]}, count, bits)
            records = stores[names[0]]
            for number in RANDOM.sample([i for _, i in records], 5):
                own = [value for value, identifier in records if identifier == number]
                answer = service.get(f"/v1/query?id={number}&group=1&exclude_self=1&store={names[0]}")
                assert listed_groups(answer, names[:1]) == [grouped({names[0]: records}, own, 3, number)]


def listed_groups(answer, names):
    return [[(m["distance"], int(m["fingerprint"], 16), int(m["id"]), m.get("store", names[0]), int(m["query"], 16), m["query_count"])
             for m in r["matches"]] for r in answer["results"]]


def check_groups(service, parts, count, bits):
    names, queries = list(parts), choose_groups(next(iter(parts.values())), count, bits)
    groups = [([value for value, _ in rows], number) for number, rows in
              ((number, list(rows)) for number, rows in itertools.groupby(queries, lambda query: query[1]))]
    rest = {"group": True, "store": names[0], "also": names[1:]}
    rows = [{"fingerprint": f"{f:0{bits // 4}x}", "id": i} for f, i in queries]
    for excludes, limit in itertools.product([False, True], [None, 1, 3]):
        body = {"queries": rows, "exclude_self": excludes, **rest, **({"limit": limit} if limit else {})}
        for path, model in [("/v1/query", grouped), ("/v1/nearest", grouped if limit else nearest_only)]:
            expected = [model(parts, group, 3, number if excludes else None)[:limit] for group, number in groups]
            answer = service.post(path, body)
            assert listed_groups(answer, names) == expected, (path, body)
            assert [r["match_count"] for r in answer["results"]] == [len(e) for e in expected]
            assert [int(r["query_id"]) for r in answer["results"]] == [number for _, number in groups]
            assert [int(r["query"], 16) for r in answer["results"]] == [group[0] for group, _ in groups]
            options = ["--exclude-self"] * excludes + (["--limit", limit] if limit else []) + ["--nearest"] * (path == "/v1/nearest")
            options += ["-k", 3] + [f"--also={name}" for name in names[1:]]
            text = "".join(f"{f:0{bits // 4}x}\t{i}\n" for f, i in queries)
            lines = sstore("query", "--group", "--json", *options, "--input", "-", names[0], input=text).stdout.splitlines()
            said = [json.loads(line) for line in lines]
            assert [(m["distance"], int(m["fingerprint"], 16), int(m["id"]), m.get("store", names[0]), int(m["query"], 16), m["query_count"])
                    for m in said] == list(itertools.chain(*expected))
    # Without ids, all are one group.
    values = [value for value, _ in queries]
    answer = service.post("/v1/query", {"fingerprints": [row["fingerprint"] for row in rows], **rest})
    assert listed_groups(answer, names) == [grouped(parts, values, 3)]
    if len(parts) == 1:
        status, found, _ = service.send("POST", f"/v1/query?group=1&store={names[0]}", b"".join(packed(v, bits) for v in values))
        wanted = [(values.index(query), value, number, distance) for distance, value, number, _, query, _ in grouped(parts, values, 3)]
        got = [(index, int("".join(f"{word:016x}" for word in words), 16), number, distance)
               for index, *words, number, distance, _ in struct.iter_unpack(f"<Q{bits // 64}QQII", found)]
        assert status == 200 and got == wanted


def test_hot_groups():
    """A group with too many matches fails alone, and none fails with a limit."""
    hot = [(0, i) for i in range(70)] + [(3, 100 + i) for i in range(40)] + [(0xFF << 32, 500), (0xFF << 32, 501)]
    build("hot.groups", hot)
    with Service("hot.groups", "--max-matches", 100, "--max-distance", 8) as service:
        groups = {1: [0], 2: [1, 2], 3: [0xFF << 32, 0xFE << 32]}
        for order in itertools.permutations(groups):
            rows = [{"fingerprint": f"{value:x}", "id": number} for number in order for value in groups[number]]
            for path, model, k in [("query", grouped, 1), ("nearest", nearest_only, 8), ("query", grouped, 0)]:
                expected = [model({"hot.groups": hot}, groups[number], k) for number in order]
                answer = service.post(f"/v1/{path}?k={k}", {"queries": rows, "group": True})
                assert ["error" in r for r in answer["results"]] == without_room(expected, 100), (path, k, order)
                for result, wanted in zip(answer["results"], expected, strict=True):
                    if "error" not in result:
                        assert listed_groups({"results": [result]}, ["hot.groups"]) == [wanted]
                for limit in [1, 40, 90]:
                    limited = service.post(f"/v1/{path}?k={k}&limit={limit}", {"queries": rows, "group": True})
                    for found, number in zip(listed_groups(limited, ["hot.groups"]), order, strict=True):
                        wanted = grouped({"hot.groups": hot}, groups[number], k)
                        assert found == wanted[: len(found)] and len(found) >= min(limit, len(wanted), 100 // 3)
        service.post("/v1/query?k=1", {"fingerprints": ["1", "2"], "group": True}, status=422)
        error = service.post("/v1/query", {"fingerprints": ["1"], "group": "yes"}, status=400)["error"]
        assert error == "group: expected true or false"


BAD_FINGERPRINTS = ["xyz", "", "84adfe2d13e12cf00", 7, None, [], {}, "\u00e4" * 80, "12 34"]
BAD_RECORDS = [1, "ff", {}, {"fingerprint": "x"}, {"fingerprint": "1", "id": -1}, {"fingerprint": "1", "id": "z"},
               {"fingerprint": "1", "id": 1, "other": 1}, {"id": 3}, {"fingerprint": "1", "id": 2**64},
               {"fingerprint": "1"}]  # the others have ids


def mixed(good, bad):
    """Good and malformed rows in any order: all, and the places of each kind."""
    rows = [(row, True) for row in good] + [(RANDOM.choice(bad), False) for _ in range(RANDOM.randrange(1, 250))]
    RANDOM.shuffle(rows)
    places = [[i for i, (_, is_good) in enumerate(rows) if is_good == kind] for kind in (True, False)]
    return [row for row, _ in rows], *places


def check_skipped(answer, rows, bad, name):
    """The reply counts all rows that were skipped, and lists the first ones with reasons and texts."""
    assert answer["bad_count"] == len(bad) and [b["index"] for b in answer["bad"]] == bad[:100]
    for listed in answer["bad"]:
        row = rows[listed["index"]]
        text = row if isinstance(row, str) else json.dumps(row)  # as it was sent
        assert listed.keys() == {"index", "error", "text"} and listed["error"].startswith(f"{name}[{listed['index']}]"), listed
        assert listed["text"][:20] == text[:20] and len(listed["text"]) <= 400, listed


def test_skipped_rows():
    """With skip_bad or max_bad, malformed rows are left out and listed; the others are answered, and know their places."""
    records = near_data(300)
    build("skip.store", records)
    with Service("skip.store", "--write", "--max-matches", "1M") as service:
        for count in [1, 5, 200]:
            queries = [near_query(records) for _ in range(count)]
            expected = [matches(records, query, 3) for query in queries]
            rows, good, bad = mixed(hexed(queries), BAD_FINGERPRINTS)
            expected = [matches(records, int(rows[i], 16), 3) for i in good]
            given = {"fingerprints": rows}
            service.post("/v1/query", given, status=400)
            for path, more in [("/v1/query?skip_bad=1", {}), ("/v1/query?skip_bad", {}), ("/v1/query", {"skip_bad": True}),
                               ("/v1/query?max_bad=250", {}), ("/v1/nearest", {"max_bad": len(bad)})]:
                answer = service.post(path, given | more)
                check_skipped(answer, rows, bad, "fingerprints")
                assert [r["index"] for r in answer["results"]] == good
                wanted = [[m for m in e if m[0] == e[0][0]] for e in expected] if "nearest" in path else expected
                assert results(answer) == wanted
            status, body, _ = service.send("POST", "/v1/query?skip_bad=1", given, Accept="application/octet-stream")
            found = [[] for _ in rows]
            for index, fingerprint, identifier, distance, _ in struct.iter_unpack("<QQQII", body):
                found[index].append((distance, fingerprint, identifier))
            assert [found[i] for i in good] == expected and all(found[i] == [(2**32 - 1, 0, 2)] for i in bad)
            refused = service.post("/v1/query", given | {"max_bad": len(bad) - 1}, status=400)["error"]
            assert refused.endswith(f"more than the {len(bad) - 1} row{'s' * (len(bad) != 2)} that max_bad allows cannot be read"), refused
            service.post("/v1/query?skip_bad=0", given, status=400)
            service.post("/v1/query", given | {"skip_bad": False}, status=400)
        # Rows that are all malformed are of another form than expected. Nothing malformed: nothing is listed.
        refused = service.post("/v1/query?skip_bad=1", {"fingerprints": ["x", "y"]}, status=400)["error"]
        assert refused.startswith("fingerprints[0]") and refused.endswith("none of 2 rows can be read"), refused
        assert service.post("/v1/query?skip_bad=1", {"fingerprints": []}) == {"results": [], "bad_count": 0, "bad": []}
        answer = service.post("/v1/query?skip_bad=1&k=0", {"fingerprints": ["ff"]})
        assert answer["bad_count"] == 0 and answer["results"][0]["index"] == 0
        for path, more in [("skip_bad=2", {}), ("max_bad=x", {}), ("", {"skip_bad": 1}), ("", {"max_bad": True}),
                           ("skip_bad=1", {"skip_bad": True})]:
            service.post(f"/v1/query?{path}", {"fingerprints": ["ff"]} | more, status=400)

        stored = set(records)
        for route in ["records", "offer", "remove", "records"]:
            fresh = [(RANDOM.getrandbits(64), RANDOM.getrandbits(64)) for _ in range(30)]
            changed = RANDOM.sample(sorted(stored), 30) if route == "remove" else fresh
            given = [{"fingerprint": f"{f:x}", "id": RANDOM.choice([i, str(i)])} for f, i in changed]
            rows, good, bad = mixed(given, BAD_RECORDS)
            first = rows.index(rows[good[0]])  # a record without an id must not decide for all
            rows[:first] = [1] * first
            service.post(f"/v1/{route}", {"records": rows}, status=400)
            answer = service.post(f"/v1/{route}?skip_bad=1", {"records": rows})
            check_skipped(answer, rows, bad, "records")
            stored = stored - set(changed) if route == "remove" else stored | set(changed)
            if route == "offer":
                assert [r["index"] for r in answer["results"]] == good and all(r["is_new"] for r in answer["results"])
                assert [r["fingerprint"] for r in answer["results"]] == [f"{int(rows[i]['fingerprint'], 16):016x}" for i in good]
            else:
                assert (answer["given_count"], answer["record_count"]) == (30, len(stored)), answer
    dumped = [line.split("\t") for line in sstore("dump", "skip.store").stdout.splitlines()]
    assert {(int(f, 16), int(i)) for f, i in dumped} == stored


def test_memory_of_json():
    """Objects that are no records take no memory."""
    build("plain.store", [(1, 1)], "--force")
    with Service("plain.store") as service:
        body = '{"fingerprints":[' + ",".join(["{}"] * 2_500_000) + "]}"
        answer = service.post("/v1/query", body, status=400)
        assert answer["error"].startswith("fingerprints[0]: expected a string"), answer
        peak = next(line for line in open(f"/proc/{service.process.pid}/status") if line.startswith("VmHWM"))
        assert int(peak.split()[1]) < 100_000, peak


def test_refused_requests():
    build("small.store", near_data(100))
    with Service("small.store", "--max-body", 1000) as service:
        refused = [
            ("GET", "/v1/nothing", None, 404),
            ("GET", "/nothing", None, 404),
            ("POST", "/", "{}", 405),
            ("PUT", "/v1/query", "{}", 405),
            ("POST", "/v1/stat", "{}", 405),
            ("GET", "/v1/records", None, 405),
            ("GET", "/v1/query", None, 400),
            ("GET", "/v1/query?fp=", None, 400),
            ("GET", "/v1/query?fp", None, 400),
            ("GET", "/v1/query?fp=12345678901234567", None, 400),
            ("GET", "/v1/query?fp=1&fp=2", None, 400),
            ("GET", "/v1/query?fp=1&k=4", None, 400),
            ("GET", "/v1/query?fp=1&k=-1", None, 400),
            ("GET", "/v1/query?fp=1&k=3.0", None, 400),
            ("GET", "/v1/query?fp=1&K=3", None, 400),
            ("GET", "/v1/query?fp=1&limit=x", None, 400),
            ("GET", "/v1/query?fp=1&ids=", None, 400),
            ("GET", "/v1/query?fp=1&ids=2-1", None, 400),
            ("GET", "/v1/stat?ids=1-2", None, 400),
            ("GET", "/v1/query?fp=1&exclude_self=1", None, 400),
            ("GET", "/v1/query?id=1&exclude_self=x", None, 400),
            ("POST", "/v1/query?exclude_self=1", '{"fingerprints":["1"]}', 400),
            ("POST", "/v1/query", '{"fingerprints":["1"],"ids":7}', 400),
            ("GET", "/v1/query?fp=%00", None, 400),
            ("GET", "/v1/query?fp=1%00x", None, 400),
            ("GET", "/v1/query?fp=1&k=3%00x", None, 400),
            ("GET", "/v1/query?fp=%ff%1b[31m", None, 400),
            ("POST", "/v1/query", "", 400),
            ("POST", "/v1/query", "{", 400),
            ("POST", "/v1/query", "[]", 400),
            ("POST", "/v1/query", "{}", 400),
            ("POST", "/v1/query", '{"fingerprints":"1"}', 400),
            ("POST", "/v1/query", '{"fingerprints":[1]}', 400),
            ("POST", "/v1/query", '{"fingerprints":["1"],"k":"3"}', 400),
            ("POST", "/v1/query", '{"fingerprints":["1"],"k":3,"k":3}', 400),
            ("POST", "/v1/query", '{"fingerprints":["1"],"distance":3}', 400),
            ("POST", "/v1/query", '{"fingerprints":["\\u0000"]}', 400),
            ("POST", "/v1/query", '{"fingerprints":["g"]}', 400),
            ("POST", "/v1/query", '{"fingerprints":["1"]} x', 400),
            ("POST", "/v1/query?k=3", '{"fingerprints":["1"],"k":3}', 400),
            ("POST", "/v1/query?limit=3", '{"fingerprints":["1"],"limit":3}', 400),
            ("POST", "/v1/query?store=small.store", '{"fingerprints":["1"],"store":"small.store"}', 400),
            ("POST", "/v1/query?fp=1", '{"fingerprints":["1"]}', 400),
            ("POST", "/v1/query", "[" * 900, 400),
            ("POST", "/v1/query", '{"fingerprints":[' + "{}," * 100 + "{}]}", 400),
            ("POST", "/v1/query", b"1234567", 400),
            ("POST", "/v1/query", b"x" * 1008, 413),
            ("POST", "/v1/records", '{"records":[{"fingerprint":"1"}]}', 403),
            ("POST", "/v1/offer", '{"records":[{"fingerprint":"1"}]}', 403),
            ("POST", "/v1/remove", '{"records":[{"fingerprint":"1"}]}', 403),
        ]
        for method, path, body, expected in refused:
            status, answer, response = service.send(method, path, body)
            assert status == expected, (method, path, body, status, answer)
            assert json.loads(answer).keys() == {"error"} and answer.endswith(b"}\n"), answer
            assert (status == 405) == (response.getheader("Allow") is not None)
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""]:
            service.post("/v1/query", '{"fingerprints":["1"]}', status=415, content_type=kind)
        service.post("/v1/query", '{"fingerprints":["1"]}', content_type="Application/JSON; charset=utf-8")
        # An announced body that is too large, and one in chunks.
        connection = service.connect()
        connection.request("POST", "/v1/query", iter([b"x" * 600] * 3), {"Content-Type": "application/octet-stream"})
        assert connection.getresponse().status == 413
        assert service.get("/healthz") == {"status": "ok"}
        assert "/v1/query" in service.get("/")["paths"]


def raw(service, data):
    """What the service answers to bytes, until it closes the connection or is silent."""
    answer = b""
    with socket.create_connection((service.host, service.port)) as client:
        client.sendall(data)
        client.settimeout(1)
        try:
            while part := client.recv(65536):
                answer += part
        except TimeoutError:
            answer += b"(open)"
    return answer


def test_early_errors():
    """A client that still sends its body gets the error, and the connection goes on; one that waits gets it at once."""
    build("early.store", near_data(50))
    with Service("early.store", "--max-body", "16M") as service:
        connection = service.connect()
        for path, kind, expected in [("/v1/query", "text/plain", 415), ("/v1/no", "application/json", 404)]:
            status, answer, _ = service.send("POST", path, b"x" * (8 << 20), connection, content_type=kind)
            assert status == expected and json.loads(answer)["error"], answer
        assert service.send("GET", "/healthz", None, connection)[0] == 200
        head = b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
        assert raw(service, head % (b"text/plain", 100)).startswith(b"HTTP/1.1 415")
        assert raw(service, head % (b"application/json", 10**12)).startswith(b"HTTP/1.1 413")
        assert raw(service, head % (b"application/json", 100)).startswith(b"HTTP/1.1 100")
        assert service.metrics()['sstore_request_duration_seconds_sum{path="/v1/query"}'] < 60


def test_ambiguous_requests():
    """A request that a proxy may understand in another way is refused, and its connection closed."""
    build("head.store", near_data(50))
    body = b'{"fingerprints":["1"]}'
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    ambiguous = [
        (b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", chunked),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunked),
        (b"Transfer-Encoding: gzip, chunked\r\n", chunked),
        (b"Transfer-Encoding: gzip\r\n", body),
        (b"Content-Length: 22\r\nContent-Length: 5\r\n", body),
        (b"Content-Length : 22\r\n", body),
        (b"Host: localhost\r\nContent-Length: 22\r\n", body),
        # A line that continues the header before it.
        (b"Content-Length:\r\n 22\r\n", body),
        (b"Content-Length: 22\r\nTransfer-Encoding:\r\n chunked\r\n", body),
        (b"Transfer-Encoding: chunked\r\n\t;\r\n", chunked),
    ]
    start = b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with Service("head.store") as service:
        for headers, sent in ambiguous:
            answer = raw(service, start + headers + b"\r\n" + sent)
            assert answer.startswith(b"HTTP/1.1 400") and b"ambiguous" in answer and not answer.endswith(b"(open)"), answer
        for headers, sent in [(b"Content-Length: 22\r\n", body), (b"Transfer-Encoding: Chunked\r\n", chunked)]:
            assert raw(service, start + headers + b"\r\n" + sent).startswith(b"HTTP/1.1 200")
        assert b"no value at the end" in raw(service, start + b"Content-Length: 0\r\n\r\n")
        for host in [b"", b"Host: localhost\r\n x\r\n"]:
            answer = raw(service, b"GET /v1/query?fp=1 HTTP/1.1\r\n" + host + b"\r\n")
            assert answer.startswith(b"HTTP/1.1 400") and b"ambiguous" in answer, answer


def test_too_many_parameters():
    """libmicrohttpd has no room for them, and gives no answer. Nothing of the request may stay (which LeakSanitizer sees)."""
    build("parameters.store", near_data(50))
    with Service("parameters.store") as service:
        with socket.create_connection((service.host, service.port)) as client:
            client.sendall(b"GET /?" + 1000 * b"&" + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
            service.get("/healthz")


def test_host():
    """A web page whose site's name leads to this machine gets nothing."""
    build("host.store", near_data(50))
    names = [("localhost", 200), ("LocalHost:80", 200), ("a.localhost", 200), ("127.0.0.1:7464", 200), ("[::1]", 200)]
    foreign = ["evil.example", "localhost.evil.example:7464", "evillocalhost", "127.0.0.1.evil.example", ""]
    names += [(name, 403) for name in foreign]
    with Service("host.store", "--write") as service:
        for name, status in names:
            service.get("/v1/query?fp=1", status, Host=name)
            service.post("/v1/records", {"records": []}, status, Host=name)
            service.get("/healthz", Host=name)
        assert raw(service, b"GET /v1/query?fp=1 HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200")
    with open("host-token", "w") as file:
        file.write("0123456789abcdef\n")
    with Service("host.store", "--token-file", "host-token") as service:
        service.get("/v1/query?fp=1", Host="evil.example", Authorization="Bearer 0123456789abcdef")
    with Service("host.store", "--no-token") as service:
        service.get("/v1/query?fp=1", Host="evil.example")
    with Service("host.store", listen="unix:host") as service:
        service.get("/v1/query?fp=1", Host="evil.example")


def test_raw_bytes():
    """Whatever a client sends, the service goes on."""
    build("raw.store", near_data(50))
    with Service("raw.store", "--timeout", 1) as service:
        valid = b"POST /v1/query HTTP/1.1\r\nHost: [::1]\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n" + (
            b'{"fingerprints":["1"]}'
        )
        for _ in range(200):
            with socket.create_connection((service.host, service.port)) as client:
                data = bytearray(valid * RANDOM.randrange(1, 4))
                for _ in range(RANDOM.randrange(4)):
                    data[RANDOM.randrange(len(data))] = RANDOM.randrange(256)
                del data[RANDOM.randrange(len(data)) :]
                client.sendall(data)
        assert service.get("/healthz") == {"status": "ok"}
        service.wait_for(lambda metrics: metrics["sstore_connections"] == 1)


def test_writes():
    records = set(near_data(500))
    build("written.store", sorted(records))
    with Service("written.store", "--write") as service:
        new = [(RANDOM.getrandbits(64), 10**6 + i) for i in range(50)]
        given = [{"fingerprint": f"{f:x}", "id": str(i) if i % 2 else i} for f, i in new]
        answer = service.post("/v1/records", {"records": given + given[:5]})
        assert answer["given_count"] == 55 and answer["first_id"] is None and answer["record_count"] == 550, answer
        records.update(new)
        for query in [new[7][0], near_query(sorted(records))]:
            assert results(service.get(f"/v1/query?fp={query:x}")) == [matches(records, query, 3)]
        body = b"".join(struct.pack("<QQ", f ^ 1, i) for f, i in new)
        assert service.post("/v1/records", body)["record_count"] == 600
        records.update((f ^ 1, i) for f, i in new)

        next_id = int(service.get("/v1/stat")["stores"][0]["stat"]["next_id"])
        answer = service.post("/v1/records", {"records": [{"fingerprint": "abc"}, {"fingerprint": "def"}]})
        assert int(answer["first_id"]) == next_id
        records.update([(0xABC, next_id), (0xDEF, next_id + 1)])
        assert results(service.get("/v1/query?fp=abc&k=0")) == [[(0, 0xABC, next_id)]]

        for distance in [3, 1]:
            offered = [(near_query(sorted(records)) if i % 2 else RANDOM.getrandbits(64), 2 * 10**6 + i) for i in range(60)]
            given = [{"fingerprint": f"{f:x}", "id": i} for f, i in offered]
            answer = service.post("/v1/offer", {"records": given, "k": distance, "limit": 2})
            for (fingerprint, identifier), result in zip(offered, answer["results"], strict=True):
                expected = matches(records, fingerprint, distance)
                found = results({"results": [result]})[0]
                assert found == expected[:2] and result["match_count"] == len(expected)
                assert result["is_new"] == (not expected) and int(result["id"]) == identifier
                if not expected:
                    records.add((fingerprint, identifier))
        answer = service.post("/v1/offer", {"records": [{"fingerprint": f"{RANDOM.getrandbits(64):x}"}]})
        assert answer["results"][0]["is_new"] and answer["results"][0]["id"] is not None
        records.add((int(answer["results"][0]["fingerprint"], 16), int(answer["results"][0]["id"])))

        gone = RANDOM.sample(sorted(records), 30)
        body = {"records": [{"fingerprint": f"{f:x}", "id": str(i)} for f, i in gone] + [{"fingerprint": "1", "id": "1"}]}
        records.difference_update(gone)
        answer = service.post("/v1/remove", body)
        assert answer["given_count"] == 31 and answer["record_count"] == len(records), answer
        assert service.metrics()["sstore_records_removed_total"] == 30
        gone = {f for f, _ in RANDOM.sample(sorted(records), 5)}
        records = {(f, i) for f, i in records if f not in gone}
        answer = service.post("/v1/remove", {"records": [{"fingerprint": f"{f:x}"} for f in gone]})
        assert answer["record_count"] == len(records), answer
        query = near_query(sorted(records))
        assert results(service.get(f"/v1/query?fp={query:x}")) == [matches(records, query, 3)]

        refused = [
            '{"records":[{"fingerprint":"1","id":"1"},{"fingerprint":"2"}]}',
            '{"records":[{"fingerprint":"1","id":-1}]}',
            '{"records":[{"fingerprint":"1","id":1.5}]}',
            '{"records":[{"fingerprint":"1","id":"18446744073709551616"}]}',
            '{"records":[{"id":"1"}]}',
            '{"records":[{"fingerprint":"1","name":"x"}]}',
            '{"records":["1"]}',
            b"12345678",
        ]
        for body in refused:
            service.post("/v1/records", body, status=400)
        service.post("/v1/records?k=3", {"records": []}, status=400)
        service.post("/v1/offer", {"records": [{"fingerprint": "1"}], "k": 17}, status=400)
        assert service.post("/v1/records", {"records": []})["record_count"] == len(records)
        assert service.get("/v1/stat")["stores"][0]["stat"]["segments"] != []
    dumped = {(int(line[:16], 16), int(line[17:])) for line in sstore("dump", "written.store").stdout.splitlines()}
    assert dumped == records
    sstore("verify", "--quiet", "written.store")


def by_id(records, identifier):
    """What the service says of the records of an id."""
    return [{"fingerprint": f"{f:016x}", "id": str(i)} for f, i in sorted(records) if i == identifier]


def check_deleted(service, records, given):
    """Delete ids, all at once: those of no record are not found."""

    def delete(identifier, answers):
        connection = service.connect()
        status, body, _ = service.send("DELETE", f"/v1/records/{identifier}", connection=connection)
        answers[identifier] = status, json.loads(body)
        connection.close()

    answers = {}
    threads = [threading.Thread(target=delete, args=(identifier, answers)) for identifier in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    there = {i for _, i in records}
    for identifier, (status, answer) in answers.items():
        expected = 200 if identifier in there else 404
        assert status == expected and (status == 200 or f"the id '{identifier}'" in answer["error"]), (identifier, answer)
    assert len(answers) == len(given)
    records.difference_update([record for record in records if record[1] in given])


def test_records_by_id():
    for options in [["--id-index"], []]:
        records = set(near_data(300))
        build("by_id.store", sorted(records), "--force", *options)
        with Service("by_id.store", "--write") as service:
            for identifier in RANDOM.sample([i for _, i in sorted(records)], 20):
                assert service.get(f"/v1/records/{identifier}") == {"records": by_id(records, identifier)}
                wanted = [f for f, i in sorted(records) if i == identifier]
                for route in ["query", "nearest"]:
                    answer = service.get(f"/v1/{route}?id={identifier}&k=2")
                    assert [int(result["query"], 16) for result in answer["results"]] == wanted
                    assert answer == service.post(f"/v1/{route}", {"fingerprints": hexed(wanted), "k": 2})
            absent = [RANDOM.getrandbits(60) | 1 << 63 for _ in range(5)]
            assert "the id" in service.get(f"/v1/records/{absent[0]}", status=404)["error"]
            service.get(f"/v1/query?id={absent[0]}", status=404)
            check_deleted(service, records, {*absent, *RANDOM.sample([i for _, i in sorted(records)], 15)})
            gone = RANDOM.sample([i for _, i in sorted(records)], 10)
            answer = service.post("/v1/remove", {"records": [{"id": str(i)} for i in gone + absent]})
            records = {record for record in records if record[1] not in gone}
            assert answer["given_count"] == 15 and answer["record_count"] == len(records), answer
            for path in ["/v1/records/", "/v1/records/x", "/v1/records/-1", "/v1/records/18446744073709551616",
                         "/v1/records/1/2", "/v1/records/1%00", "/v1/records/1%", "/v1/records/%4", "/v1/records/%zz",
                         "/v1/query?id=1%3", "/v1/query?id=x", "/v1/query?id=1&fp=1", "/v1/records/1?k=3"]:
                service.get(path, status=404 if path.endswith("/") else 400)
            assert service.send("PATCH", "/v1/records/1")[2].getheader("Allow") == "GET, HEAD, PUT, DELETE"
            assert service.send("DELETE", "/v1/records/1", "{}")[0] == 400
            mixed_up = {"records": [{"id": "1"}, {"fingerprint": "1", "id": "2"}]}
            service.post("/v1/remove", mixed_up, status=400)
            service.post("/v1/records", {"records": [{"id": "1"}]}, status=400)
        dumped = {(int(line[:16], 16), int(line[17:])) for line in sstore("dump", "by_id.store").stdout.splitlines()}
        assert dumped == records
        sstore("verify", "--quiet", "by_id.store")
    with Service("by_id.store") as service:
        assert service.send("DELETE", "/v1/records/1")[0] == 403
    with Service("by_id.store", "--max-matches", 3) as service:
        build("by_id.store", [(fingerprint, 7) for fingerprint in range(4)], "--force")
        service.refresh()
        service.wait_for(lambda metrics: metrics['sstore_store_records{store="by_id.store"}'] == 4)
        service.get("/v1/records/7", status=422)


def test_replacements():
    """A record takes the place of all that have its id, also if many come at once: then one of them stays."""
    for options, bits in [(["--id-index"], 64), ([], 128)]:
        records = set(near_data(200, bits))
        build("replaced.store", sorted(records), "--force", *options, bits=bits)
        with Service("replaced.store", "--write") as service:

            def put(identifier, fingerprint, answers):
                connection = service.connect()
                body = {"fingerprint": hexed([fingerprint], bits)[0]}
                answers.append(service.send("PUT", f"/v1/records/{identifier}", body, connection)[0])
                connection.close()

            known = [i for _, i in sorted(records)]
            given = [(RANDOM.choice([*known[:5], RANDOM.getrandbits(64)]), RANDOM.getrandbits(bits)) for _ in range(30)]
            answers = []
            threads = [threading.Thread(target=put, args=(*row, answers)) for row in given]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert answers == [200] * 30, answers
            replaced = {i for i, _ in given}
            records = {record for record in records if record[1] not in replaced}
            for identifier in replaced:
                (found,) = service.get(f"/v1/records/{identifier}")["records"]
                assert (identifier, int(found["fingerprint"], 16)) in given
                records.add((int(found["fingerprint"], 16), identifier))
            rows = [(RANDOM.getrandbits(bits), RANDOM.choice(known)) for _ in range(20)]
            body = {"records": [{"fingerprint": hexed([f], bits)[0], "id": i} for f, i in rows]}
            records = {record for record in records if record[1] not in {i for _, i in rows}} | set(rows)
            assert service.post("/v1/replace", body)["record_count"] == len(records)
            status, _, _ = service.send("PUT", f"/v1/records/{known[9]}", packed(5, bits))
            records = {record for record in records if record[1] != known[9]} | {(5, known[9])}
            assert status == 200
            digits = "1".zfill(bits // 4)
            for body in ["", "{}", '{"fingerprint":"x"}', f'{{"fingerprint":"{digits}","id":1}}', "[]",
                         f'{{"fingerprint":"{digits}","other":1}}', b"", b"1234567", packed(1, bits) * 2]:
                assert service.send("PUT", "/v1/records/1", body)[0] == 400, body
            assert service.send("PUT", "/v1/records/x", packed(1, bits))[0] == 400
            service.post("/v1/replace", {"records": [{"fingerprint": digits}]}, status=400)
        dumped = {tuple(line.split("\t")) for line in sstore("dump", "replaced.store").stdout.splitlines()}
        assert dumped == {(hexed([f], bits)[0].zfill(bits // 4), str(i)) for f, i in records}
        sstore("verify", "--quiet", "replaced.store")


def test_names():
    """Answers have names, and names are keys: of any bytes in paths, of UTF-8 in JSON."""
    texts = ["a b/c?d&e=%20", "7", "0", "\u00e9\U0001f600", "'\"\\", "-", "#x", "x" * 3000, "\t", "a" * 70 + "/b"]
    names = {number: name.encode() for number, name in enumerate(texts)} | {len(texts): b"\xff\xfe/raw"}
    records = {(RANDOM.getrandbits(64), number) for number in names for _ in range(RANDOM.randint(1, 3))}
    near = {(f ^ 1, RANDOM.randrange(len(names))) for f, _ in records}
    records |= near
    rows = [{"fingerprint": f"{f:016x}", "id": i, "name": texts[i]} for f, i in sorted(records) if i < len(texts)]
    lines = "".join(json.dumps(row) + "\n" for row in rows if row["id"] < len(texts))
    sstore("build", "--quiet", "--names", "names.store", "-", "--format", "jsonl", input=lines)
    raw = "".join(f"{f:016x}\t\\xff\\xfe/raw\n" for f, i in sorted(records) if i == len(texts))
    sstore("add", "--quiet", "names.store", "-", input=raw)

    def path_of(name):
        return "/v1/records/" + urllib.parse.quote(name, safe="/")

    def named(found):
        """The fingerprint and the name of each record."""
        return sorted((int(m["fingerprint"], 16), shown(m)) for m in found)

    def shown(match):
        return match["name"].encode() if "name" in match else match["escaped_name"].encode("latin1").decode("unicode_escape").encode("latin1")

    def expected(wanted):
        return sorted((f, names[i]) for f, i in wanted)

    with Service("names.store", "--write") as service:
        for number, name in names.items():
            own = {record for record in records if record[1] == number}
            assert named(service.get(path_of(name))["records"]) == expected(own), name
            quoted = urllib.parse.quote(name)
            answer = service.get(f"/v1/query?name={quoted}&k=1")
            assert sorted(int(r["query"], 16) for r in answer["results"]) == sorted(f for f, _ in own)
            for result in answer["results"]:
                query = int(result["query"], 16)
                found = {r for r in records if (r[0] ^ query).bit_count() <= 1}
                assert named(result["matches"]) == expected(found), (result, found)
            ids = {(int(m["fingerprint"], 16), m["id"]) for m in service.get(path_of(name))["records"]}
            others = service.get(f"/v1/query?name={quoted}&k=1&exclude_self=1")
            for before, result in zip(answer["results"], others["results"], strict=True):
                left_out = {m["id"] for m in before["matches"]} - {m["id"] for m in result["matches"]}
                assert len(left_out) == 1 and (int(result["query"], 16), *left_out) in ids
        queries = [f for f, _ in sorted(records)] * 3
        for count in [1, len(queries)]:
            answer = service.post("/v1/query", {"fingerprints": hexed(queries[:count]), "k": 1})
            for query, result in zip(queries, answer["results"]):
                assert named(result["matches"]) == expected(r for r in records if (r[0] ^ query).bit_count() <= 1)
        assert results(service.get("/v1/query?fp=1&k=0")) == [[]]
        service.get(path_of(b"none"), status=404)
        assert "the name 'none'" in service.get("/v1/query?name=none", status=404)["error"]

        new = RANDOM.getrandbits(64)
        answer = service.post("/v1/records", {"records": [{"fingerprint": f"{new:x}", "name": "new/\u00e9"}]})
        assert answer["record_count"] == len(records) + 1
        assert named(service.get(path_of("new/\u00e9".encode()))["records"]) == [(new, "new/\u00e9".encode())]
        for name in [b"7", b"new/\xc3\xa9", b"\xff\xfe/raw", b"fresh"]:
            fingerprint = RANDOM.getrandbits(64)
            status, answer, _ = service.send("PUT", path_of(name), {"fingerprint": f"{fingerprint:x}"})
            assert status == 200, answer
            assert named(service.get(path_of(name))["records"]) == [(fingerprint, name)]
        for path in ["/v1/records/a%00", "/v1/records/%", "/v1/records/a%4", "/v1/records/%zz"]:
            status, answer, _ = service.send("PUT", path, {"fingerprint": "1"})
            assert status == 400 and b"cannot be decoded" in answer, answer
            assert service.send("DELETE", path)[0] == 400
        body = {"records": [{"fingerprint": f"{new:x}", "name": "0"}, {"fingerprint": "1", "name": "fresh"}]}
        service.post("/v1/replace", body)
        assert named(service.get(path_of(b"0"))["records"]) == [(new, b"0")]
        assert service.send("DELETE", path_of(b"7"))[0] == 200 and service.send("DELETE", path_of(b"7"))[0] == 404
        service.get(path_of(b"7"), status=404)
        service.post("/v1/remove", {"records": [{"name": "0"}, {"name": texts[0]}, {"name": "none"}]})
        service.get(path_of(b"0"), status=404)
        service.get(path_of(names[0]), status=404)
        for name in [b"\xff\xfe/raw", b"a\\b\xc0"]:  # an answer's key, given back
            fingerprint, escaped = RANDOM.getrandbits(64), "".join(f"\\x{byte:02x}" for byte in name)
            service.post("/v1/replace", {"records": [{"fingerprint": f"{fingerprint:x}", "escaped_name": escaped}]})
            found = service.get(path_of(name))["records"]
            assert named(found) == [(fingerprint, name)]
            body = {"queries": [{"fingerprint": f"{fingerprint:x}", "escaped_name": found[0]["escaped_name"]}], "exclude_self": True, "k": 0}
            answer = service.post("/v1/query", body)
            assert results(answer) == [[]] and answer["results"][0]["escaped_query_name"] == found[0]["escaped_name"]
            service.post("/v1/remove", {"records": [{"escaped_name": found[0]["escaped_name"]}]})
            service.get(path_of(name), status=404)
        for body in [{"fingerprint": "1", "escaped_name": "\\x0"}, {"fingerprint": "1", "escaped_name": "\\x0a"},
                     {"fingerprint": "1", "escaped_name": "a", "name": "a"}, {"fingerprint": "1", "escaped_name": 1}]:
            service.post("/v1/records", {"records": [body]}, status=400)
        assert service.send("PUT", "/v1/records/x", {"fingerprint": "1", "escaped_name": "y"})[0] == 400
        for body in [{"fingerprint": "1"}, {"fingerprint": "1", "name": ""}, {"fingerprint": "1", "name": "a\nb"},
                     {"fingerprint": "1", "name": 7}, {"fingerprint": "1", "name": "a\u0000"}, {"name": "a"}]:
            service.post("/v1/records", {"records": [body]}, status=400)
        service.post("/v1/remove", {"records": [{"name": "a", "fingerprint": "1"}]}, status=400)
        service.post("/v1/remove", {"records": [{"name": "a"}, {"id": 1}]}, status=400)
        stored, other = int(service.get(path_of("new/\u00e9".encode()))["records"][0]["fingerprint"], 16), RANDOM.getrandbits(64)
        offered = [(stored ^ 1, "unused"), (other, "fresh"), (other ^ 1, "late"), (0xF0F0F0F0, "late")]
        body = {"records": [{"fingerprint": f"{f:x}", "name": name} for f, name in offered], "k": 1}
        near, kept, waiting, late = service.post("/v1/offer", body)["results"]
        assert not near["is_new"] and (stored, "new/\u00e9".encode()) in named(near["matches"]), near
        assert kept["is_new"] and {kept["id"]} == {m["id"] for m in service.get(path_of(b"fresh"))["records"]}, kept
        assert not waiting["is_new"] and named(waiting["matches"]) == [(other, b"fresh")], waiting
        assert late["is_new"] and named(service.get(path_of(b"late"))["records"]) == [(0xF0F0F0F0, b"late")]
        service.get(path_of(b"unused"), status=404)
        for body in [{"fingerprint": "3"}, {"fingerprint": "3", "name": ""}, {"fingerprint": "5", "name": "b", "id": late["id"]}]:
            assert "name" in service.post("/v1/offer", {"records": [body], "k": 0}, status=400)["error"]
    sstore("verify", "--quiet", "names.store")
    build("nameless.store", [(1, 7)])
    with Service("nameless.store", "--write") as service:
        for method, path in [("GET", "/v1/records/x"), ("GET", "/v1/query?name=7"), ("DELETE", "/v1/records/x")]:
            status, answer, _ = service.send(method, path)
            assert status == 400 and b"no names" in answer, answer
        assert service.send("PUT", "/v1/records/x", {"fingerprint": "1"})[0] == 400
        service.post("/v1/records", {"records": [{"fingerprint": "1", "name": "a", "id": 1}]}, status=400)
        service.post("/v1/remove", {"records": [{"name": "a"}]}, status=400)
        service.post("/v1/offer", {"records": [{"fingerprint": "2", "name": "a"}]}, status=400)
        assert service.get("/v1/records/7")["records"] == [{"fingerprint": "0000000000000001", "id": "7"}]


def test_records_of_several_stores():
    build("one.store", [(1, 7), (2, 8)])
    build("two.store", [(3, 7)])
    build("bare.store", [(3, 7)], "--no-ids")
    with Service("one.store", "two.store") as service:
        found = service.get("/v1/records/7")["records"]
        assert [(m["fingerprint"][-1], m["store"]) for m in found] == [("1", "one.store"), ("3", "two.store")]
        assert "store" in service.get("/v1/query?id=7", status=400)["error"]
        assert results(service.get("/v1/query?id=7&k=0&store=two.store")) == [[(0, 3, 7)]]
        service.get("/v1/records/8?store=two.store", status=404)
    with Service("bare.store", "--write") as service:
        assert "no ids" in service.get("/v1/records/7", status=400)["error"]
        assert service.send("DELETE", "/v1/records/7")[0] == 400


def printed(texts, *options):
    """The output of `sstore fingerprint` of lines, and the records in it."""
    found = sstore("fingerprint", "--lines", *options, "-", input="".join(text + "\n" for text in texts)).stdout
    rows = [line.split("\t") for line in found.splitlines() if not line.startswith("#")]
    return found, [(int(fingerprint, 16), int(identifier)) for fingerprint, identifier in rows]


def test_texts():
    """The service makes the fingerprints that the command makes with the options of the store's recipe."""
    words = [f"w{number}" for number in range(50)] + ["\u00c9clair", "\u6211\u4eec\u90fd\u7231"]
    for options, bits in [(["--hash", "minhash", "--bits", "320"], 320), ([], 64),
                          (["--shingle", "2", "--bits", "128"], 128), (["--features", "chars"], 64)]:
        texts = [" ".join(RANDOM.choices(words, k=RANDOM.randint(3, 30))) for _ in range(100)]
        lines, records = printed(texts, *options)
        sstore("build", "--quiet", "--force", "texts.store", input=lines)
        records = set(records)
        with Service("texts.store", "--write") as service:
            asked = RANDOM.sample(texts, 5) + [" ".join(RANDOM.choices(words, k=9))]
            fingerprints = [fingerprint for fingerprint, _ in printed(asked, *options)[1]]
            expected = [matches(records, fingerprint, 3) for fingerprint in fingerprints]
            answer = service.post("/v1/query", {"texts": asked})
            assert results(answer) == expected
            assert [int(result["query"], 16) for result in answer["results"]] == fingerprints
            nearest = service.post("/v1/nearest", {"texts": asked})
            assert nearest == service.post("/v1/nearest", {"fingerprints": hexed(fingerprints, bits)})
            quoted = urllib.parse.quote(asked[0])
            assert results(service.get(f"/v1/query?text={quoted}")) == expected[:1]
            service.post("/v1/records", {"records": [{"text": asked[5], "id": 1000}]})
            records.add((fingerprints[5], 1000))
            offered = service.post("/v1/offer", {"records": [{"text": asked[5]}], "k": 0})["results"][0]
            assert not offered["is_new"] and int(offered["fingerprint"], 16) == fingerprints[5]
            service.post("/v1/remove", {"records": [{"text": asked[0]}]})
            records = {record for record in records if record[0] != fingerprints[0]}
            assert results(service.post("/v1/query", {"texts": asked})) == [matches(records, f, 3) for f in fingerprints]
            skipped = service.post("/v1/query?skip_bad=1", {"texts": [asked[1], " ", 7, asked[2]]})
            assert results(skipped) == [matches(records, f, 3) for f in fingerprints[1:3]], skipped
            assert skipped["bad_count"] == 2, skipped
            refused = [{"texts": [""]}, {"texts": "a b"}, {"texts": [1]}, {"texts": ["a"], "fingerprints": ["1"]}, {}]
            for body in refused:
                service.post("/v1/query", body, status=400)
            service.post("/v1/records", {"records": [{"text": "a b", "fingerprint": "1"}]}, status=400)
            service.get("/v1/query?text=a&fp=1", status=400)
            assert "no features" in service.get("/v1/query?text=", status=400)["error"]
    build("no_texts.store", [(1, 1)])
    with Service("no_texts.store") as service:
        assert "no recipe of texts" in service.get("/v1/query?text=a", status=400)["error"]
    for recipe_bits, bits in [(1024, 64), (64, 128)]:  # a recipe is any text: it need not be that of the fingerprints
        recipe = sstore("fingerprint", "--recipe", "--hash", "minhash", "--bits", recipe_bits).stdout.rstrip()
        sstore("build", "--quiet", "--force", "--recipe", recipe, "wrong.store", input="a" * (bits // 4) + "\n")
        with Service("wrong.store") as service:
            assert f"{recipe_bits} bits" in service.post("/v1/query", {"texts": ["a b"] * 50}, status=400)["error"]
            assert f"{recipe_bits} bits" in service.get("/v1/query?text=a", status=400)["error"]
    with Service("texts.store", "no_texts.store") as service:
        assert "different recipes" in service.post("/v1/query", {"texts": ["a"]}, status=400)["error"]


def test_all_or_nothing():
    """A request that cannot be written as a whole leaves nothing, however large it is."""
    build("whole.store", [(1, 2**64 - 10000)])
    with Service("whole.store", "--write", "--memory", "1M") as service:
        for path in ["/v1/offer", "/v1/records"]:
            body = {"records": [{"fingerprint": f"{RANDOM.getrandbits(64):x}"} for _ in range(15000)]}
            assert "ids" in service.post(path, body, status=400)["error"]
            assert service.get("/v1/stat")["stores"][0]["stat"]["record_count"] == 1
        body["records"] = body["records"][:9000]
        assert sum(result["is_new"] for result in service.post("/v1/offer", body)["results"]) == 9000
        assert service.get("/v1/stat")["stores"][0]["stat"]["record_count"] == 9001
        assert service.post("/v1/records", {"records": []})["first_id"] is None
        assert service.metrics()["sstore_records_added_total"] == 9000


def test_signals_while_writing():
    """No signal ends the service while requests wait to be written; they are answered first."""
    build("held.store", near_data(50))
    service = Service("held.store", "--write")
    ended = (1 << signal.SIGTERM - 1) | (1 << signal.SIGINT - 1) | (1 << signal.SIGHUP - 1)
    for thread in os.listdir(f"/proc/{service.process.pid}/task"):
        with open(f"/proc/{service.process.pid}/task/{thread}/status") as file:
            blocked = int(re.search(r"SigBlk:\s*(\w+)", file.read())[1], 16)
        # The first thread takes these signals.
        assert blocked & ended == ended or int(thread) == service.process.pid, (thread, hex(blocked))
    other = os.open("held.store", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)  # as a process that writes
    connection = service.connect()
    connection.connect()
    service.wait_for(lambda metrics: metrics["sstore_connections"] == 2)
    body = json.dumps({"records": [{"fingerprint": "abcdef", "id": "123456789"}]})
    connection.request("POST", "/v1/records", body, {"Content-Type": "application/json"})
    service.wait_for(lambda metrics: metrics["sstore_suspended_requests"] == 1)  # an unread request is not answered
    for number in [signal.SIGHUP, signal.SIGTERM, signal.SIGHUP, signal.SIGTERM, signal.SIGINT]:
        service.process.send_signal(number)
        time.sleep(0.05)
    time.sleep(5.2)  # now the threads for queries have ended
    os.close(other)
    response = connection.getresponse()
    assert response.status == 200 and json.loads(response.read())["given_count"] == 1
    assert service.process.wait(timeout=60) == 0
    assert "0000000000abcdef\t123456789\n" in sstore("dump", "held.store").stdout


def test_concurrent_writes():
    """Each answered record is in the store, each offer was new once, and queries that follow an answer find it."""
    build("busy.store", near_data(200))
    clients, rounds = 6, 15
    failures, new = [], []
    fingerprints = [RANDOM.getrandbits(64) for _ in range(rounds)]

    def write(number):
        try:
            connection = service.connect()
            for i in range(rounds):
                body = {"records": [{"fingerprint": f"{fingerprints[i]:x}", "id": 10**9 + number * rounds + i}]}
                status, answer, _ = service.send("POST", "/v1/offer", body, connection)
                assert status == 200, answer
                result = json.loads(answer)["results"][0]
                new.extend([fingerprints[i]] * result["is_new"])
                own = {"records": [{"fingerprint": f"{number:02x}{i:04x}0000000000", "id": number * rounds + i}]}
                status, answer, _ = service.send("POST", "/v1/records", own, connection)
                assert status == 200, answer
                status, answer, _ = service.send("GET", f"/v1/query?fp={number:02x}{i:04x}0000000000&k=0", None, connection)
                found = results(json.loads(answer))[0]
                assert (0, number << 56 | i << 40, number * rounds + i) in found, answer
        except Exception as error:  # noqa: BLE001 (reported by the main thread)
            failures.append(error)

    with Service("busy.store", "--write") as service:
        threads = [threading.Thread(target=write, args=[number]) for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        assert sorted(new) == sorted(fingerprints)
        service.wait_for(lambda metrics: metrics['sstore_store_open_states{store="busy.store"}'] == 1)
        metrics = service.metrics()
        assert metrics["sstore_records_added_total"] == rounds * (clients + 1)
        assert metrics['sstore_store_segments{store="busy.store"}'] < 16


def test_new_states():
    """While another process adds, removes and compacts, each answer is that of one of the states."""
    records = near_data(300)
    build("changing.store", records)
    query = records[0][0]
    failures, stop = [], threading.Event()

    def ask():
        connection = service.connect()
        previous = 0
        while not stop.is_set():
            status, answer, _ = service.send("GET", f"/v1/query?fp={query:x}&k=0", None, connection)
            found = [m for m in results(json.loads(answer))[0] if 10**12 <= m[2] < 10**12 + 100]
            ids = [m[2] - 10**12 for m in found]
            if status != 200 or ids != list(range(len(ids))) or len(ids) < previous:
                failures.append((status, answer))
                return
            previous = len(ids)

    with Service("changing.store") as service:
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for i in range(12):
            sstore("add", "--quiet", "changing.store", "-", input=f"{query:x}\t{10**12 + i}\n")
            if i % 5 == 4:
                sstore("compact", "--quiet", "changing.store")
            if i % 4 > 0:
                service.refresh()
            service.wait_for(lambda metrics: metrics['sstore_store_records{store="changing.store"}'] == 300 + i + 1)
        sstore("compact", "--quiet", "changing.store")
        service.wait_for(lambda metrics: metrics['sstore_store_segments{store="changing.store"}'] == 1)
        stop.set()
        for thread in threads:
            thread.join()
        assert not failures, failures
        service.wait_for(lambda metrics: metrics['sstore_store_open_states{store="changing.store"}'] == 1)
        assert not [name for name in service.open_files() if "seg-" in name and "(deleted)" in name]
        assert len(results(service.get(f"/v1/query?fp={query:x}&k=0"))[0]) >= 12
        assert service.metrics()["sstore_refresh_failures_total"] == 0


def test_moved_store():
    """A service follows its path to another store, with reads and writes."""
    build("first.store", [(1, 1)])
    build("second.store", [(2, 2), (3, 3)])
    build("third.store", [(4, 4)])
    os.symlink("first.store", "current")
    with Service("current", "--write", "--refresh", 10) as service:
        os.symlink("second.store", "next")
        os.replace("next", "current")
        service.wait_for(lambda metrics: metrics['sstore_store_records{store="current"}'] == 2)
        os.symlink("third.store", "next")
        os.replace("next", "current")
        answer = service.post("/v1/records", {"records": [{"fingerprint": "5"}]})
        assert answer["first_id"] == "5" and answer["record_count"] == 2, answer
        assert results(service.get("/v1/query?fp=5&k=0")) == [[(0, 5, 5)]]
    assert [sstore("dump", f"{name}.store").stdout.count("\n") for name in ["first", "second", "third"]] == [1, 2, 2]


def test_lost_store():
    """A state that cannot be opened leaves the old one in use."""
    build("lost.store", near_data(100))
    with open("manifest", "wb") as copy, open("lost.store/MANIFEST", "rb") as manifest:
        copy.write(manifest.read())
    service = Service("lost.store", "--refresh", 86400)
    with open("lost.store/other", "wb") as damaged:
        damaged.write(b"damaged")
    os.replace("lost.store/other", "lost.store/MANIFEST")
    for count in [1, 2]:
        service.refresh()
        service.wait_for(lambda metrics: metrics["sstore_refresh_failures_total"] == count)
    assert service.get("/v1/stat")["stores"][0]["stat"]["record_count"] == 100
    os.replace("manifest", "lost.store/MANIFEST")
    service.refresh()
    service.wait_for(lambda metrics: metrics['sstore_store_generation{store="lost.store"}'] == 2)
    service.process.send_signal(signal.SIGINT)
    messages = service.process.communicate(timeout=60)[1].splitlines()
    assert service.process.returncode == 0 and all("MANIFEST" in line for line in messages), messages
    assert len(messages) == 1, messages  # the same failure is reported once


def test_token():
    build("secret.store", near_data(50))
    with open("token", "w") as file:
        file.write("correct horse battery staple\n")
    with open("short", "w") as file:
        file.write("short\n")
    with open("long", "w") as file:
        file.write("x" * 1025)
    with Service("secret.store", "--token-file", "token", "--listen", "0.0.0.0:0", listen=None) as service:
        for header in [None, "Bearer", "Bearer ", "Bearer wrong", "correct horse battery staple", "Bearer correct horse battery stapl",
                       "Bearer correct horse battery staplecorrect horse battery staple"]:
            headers = {"Authorization": header} if header else {}
            status, body, response = service.send("GET", "/v1/query?fp=1", **headers)
            assert status == 401 and response.getheader("WWW-Authenticate") == "Bearer", (header, status, body)
            status, body, response = service.send("POST", "/v1/query", b"x" * 8, **headers)
            assert status == 401
        service.get("/v1/query?fp=1", Authorization="Bearer correct horse battery staple")
        service.get("/v1/query?fp=1", Authorization="bearer correct horse battery staple")
        assert service.get("/healthz") == {"status": "ok"}
        service.get("/metrics", status=401)
    for arguments, code, words in [
        (["--listen", "0.0.0.0:0"], 2, "--token-file"),
        (["--listen", "[::]:0"], 2, "--token-file"),
        (["--token-file", "short"], 1, "16"),
        (["--token-file", "absent"], 1, "absent"),
        (["--token-file", "long"], 1, "1024"),
        (["--listen", "127.0.0.1"], 2, "HOST:PORT"),
        (["--listen", "unix:"], 2, "unix:"),
        (["--listen", "no.such.host.invalid:1"], 1, "cannot listen"),
    ]:
        ended = subprocess.run(["sstore", "serve", "secret.store", *arguments], capture_output=True, text=True, timeout=60)
        assert ended.returncode == code and words in ended.stderr, (arguments, ended)
    with Service("secret.store", "--no-token", "--listen", "0.0.0.0:0", listen=None) as service:
        service.get("/v1/query?fp=1")
        ended = subprocess.run(["sstore", "serve", "secret.store", "--listen", f"127.0.0.1:{service.port}"],
                               capture_output=True, text=True, timeout=60)
        assert ended.returncode == 1 and "another program listens there" in ended.stderr, ended


def test_slow_clients():
    """A connection that sends its request too slowly, or none, is ended; others are not delayed."""
    build("slow.store", near_data(50))
    with Service("slow.store", "--timeout", 1, "--refresh", 86400) as service:
        clients = [socket.create_connection((service.host, service.port)) for _ in range(3)]
        begin = time.monotonic()
        ended = set()
        parts = {0: b"", 1: b"G", 2: b"x"}
        clients[2].sendall(b"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n")
        while len(ended) < len(clients):
            for number, client in enumerate(clients):
                client.settimeout(0.05)
                try:
                    if number not in ended:
                        client.sendall(parts[number])
                        if client.recv(100) == b"":
                            ended.add(number)
                except TimeoutError:
                    pass
                except OSError:
                    ended.add(number)
            service.connection.close()
            assert service.get("/healthz") == {"status": "ok"}
        assert time.monotonic() - begin >= 1


def test_sockets():
    records = near_data(50)
    build("socket.store", records)
    stale = socket.socket(socket.AF_UNIX)
    stale.bind("stale")
    stale.close()
    with Service("socket.store", listen="unix:stale") as service:
        assert service.unix == "stale" and os.stat("stale").st_mode & 0o777 == 0o660
        assert results(service.get(f"/v1/query?fp={records[0][0]:x}")) == [matches(records, records[0][0], 3)]
        second = subprocess.run(["sstore", "serve", "socket.store", "--listen", "unix:stale"], capture_output=True, text=True)
        assert second.returncode == 1 and "stale" in second.stderr, second
    assert not os.path.exists("stale")
    with open("file", "w"):
        pass
    occupied = subprocess.run(["sstore", "serve", "socket.store", "--listen", "unix:file"], capture_output=True, text=True)
    assert occupied.returncode == 1 and os.path.exists("file"), occupied

    # The socket of another service stays, also if that is too busy to accept, and if it has replaced the own one.
    busy = socket.socket(socket.AF_UNIX)
    busy.bind("busy")
    busy.listen(0)
    waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    for client in waiting:
        client.setblocking(False)
        client.connect_ex("busy")
    second = subprocess.run(["sstore", "serve", "socket.store", "--listen", "unix:busy"], capture_output=True, text=True, timeout=60)
    assert second.returncode == 1 and "busy" in second.stderr, second
    for one in [busy, *waiting]:
        one.close()
    with Service("socket.store", listen="unix:replaced"):
        os.unlink("replaced")
        other = socket.socket(socket.AF_UNIX)
        other.bind("replaced")
    assert os.path.exists("replaced")
    other.close()

    # As systemd passes a socket: descriptor 3, and the process's own number.
    passed = socket.create_server(("127.0.0.1", 0))
    shell = f'exec 3<&{passed.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; exec sstore "$@"'
    with Service("socket.store", command=["bash", "-c", shell, "bash"], listen=None, pass_fds=[passed.fileno()]) as service:
        assert service.port == passed.getsockname()[1]
        assert service.get("/healthz") == {"status": "ok"}
    shell = f"exec 3<&{passed.fileno()} 4<&3; export LISTEN_FDS=%d LISTEN_PID=$$; %s exec sstore serve socket.store"
    for count, change, words in [(2, "", "one socket, found 2"), (1, "exec 3</dev/null;", "not a socket"), (1, "exec 3<&-;", "not a socket")]:
        ended = subprocess.run(["bash", "-c", shell % (count, change)], capture_output=True, text=True, timeout=60, pass_fds=[passed.fileno()])
        assert ended.returncode == 1 and words in ended.stderr, ended
    passed.close()


def test_start():
    """A socket that is there takes connections, and from then on signals end the service as later."""
    build("start.store", near_data(50))
    command = ["sstore", "serve", "--quiet", "--listen", "unix:start", "start.store"]
    for turn in range(8 if FEW else 60):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while not os.path.exists("start"):
            assert process.poll() is None, process.communicate()
        if turn % 2 == 0:
            connection = UnixConnection("start")
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200
            connection.close()
        process.send_signal(signal.SIGTERM if turn % 4 < 2 else signal.SIGINT)
        rest = process.communicate()[1]
        assert process.returncode == 0 and rest == "", (turn, process.returncode, rest)
        assert not [name for name in os.listdir() if name.startswith("start") and name != "start.store"], os.listdir()

    # Nor do they end it otherwise before: here it waits for its token. SIGHUP does not end it.
    os.mkfifo("token.pipe")
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen([*command, "--token-file", "token.pipe"], stderr=subprocess.PIPE, text=True)
        with open("token.pipe", "w"):
            process.send_signal(signal.SIGHUP)
            process.send_signal(number)
            rest = process.communicate()[1]
        assert process.returncode == 0 and rest == "", (process.returncode, rest)


def test_starts_at_once():
    """Of services that find the same old socket, one takes its place, and the others end."""
    build("both.store", near_data(50))
    command = ["sstore", "serve", "--listen", "unix:both", "both.store"]
    for turn in range(3 if FEW else 30):
        old = socket.socket(socket.AF_UNIX)
        old.bind("both")
        old.close()
        services = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(6)]
        try:
            said = [service.stderr.readline() for service in services]
            assert sorted("listening on" in line for line in said) == [False] * 5 + [True], (turn, said)
            connection = UnixConnection("both")
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200
            connection.close()
        finally:
            for service in services:
                service.send_signal(signal.SIGTERM)
                service.communicate(timeout=60)
        assert sorted(service.returncode for service in services) == [0] + [1] * 5, turn


def test_few_files():
    """Clients leave the store the files that it needs."""
    build("files.store", near_data(50))
    with Service("files.store", "--write", "--threads", 1, command=["bash", "-c", 'ulimit -n 80; exec sstore "$@"', "bash"]) as service:
        service.get("/healthz")
        clients = [socket.create_connection((service.host, service.port)) for _ in range(90)]
        assert service.post("/v1/records", {"records": [{"fingerprint": "1", "id": 1}]})["record_count"] == 51
        for client in clients:
            client.close()


def test_end():
    """At SIGTERM, requests that have come are answered, and their connections are closed."""
    records = near_data(3000)
    build("end.store", records)
    service = Service("end.store", "--threads", 1, "--max-distance", 16)
    queries = struct.pack("<50000Q", *(RANDOM.getrandbits(64) for _ in range(50000)))
    connection = service.connect()
    connection.request("POST", "/v1/query?k=16&limit=0", queries, {"Content-Type": "application/octet-stream"})
    service.wait_for(lambda metrics: metrics["sstore_suspended_requests"] == 1)
    service.process.send_signal(signal.SIGTERM)
    response = connection.getresponse()
    assert response.status in (200, 422), response.read()
    response.read()
    service.process.communicate(timeout=60)
    assert service.process.returncode == 0


def test_metrics():
    records = near_data(200)
    build('odd"name\\.store', records)
    with Service('odd"name\\.store') as service:
        for _ in range(5):
            service.get(f"/v1/query?fp={records[0][0]:x}")
        service.get("/v1/query?fp=x", status=400)
        assert "/v1/query" in str(service.get("/nowhere", status=404)), "an error names the paths"
        service.post("/v1/query", {"fingerprints": hexed(f for f, _ in records)})
        assert service.get("/v1/stat")["stores"][0]["store"] == 'odd"name\\.store'
        metrics = service.metrics()
        assert metrics['sstore_requests_total{path="/v1/query",status="200"}'] == 6
        assert metrics['sstore_requests_total{path="/v1/query",status="400"}'] == 1
        assert metrics['sstore_requests_total{path="other",status="404"}'] == 1
        assert metrics['sstore_request_duration_seconds_count{path="/v1/query"}'] == 7
        assert metrics['sstore_request_duration_seconds_bucket{path="/v1/query",le="+Inf"}'] == 7
        assert metrics["sstore_queries_total"] == 205
        found = sum(len(matches(records, f, 3)) for f, _ in records) + 5 * len(matches(records, records[0][0], 3))
        assert metrics["sstore_matches_total"] == found
        assert metrics["sstore_blocks_read_total"] > 0
        name = r'{store="odd\"name\\.store"}'
        assert metrics["sstore_store_records" + name] == 200 and metrics["sstore_store_segments" + name] == 1
        bounds = [v for n, v in metrics.items() if n.startswith('sstore_request_duration_seconds_bucket{path="/v1/query"')]
        assert bounds == sorted(bounds)


def main():
    print(f"seed {SEED}", file=sys.stderr)
    wanted = os.environ.get("SSTORE_SERVE_TEST", "")  # part of the names of those to run
    for name, test in list(globals().items()):
        if name.startswith("test_") and wanted in name:
            test()
            print(name.removeprefix("test_").replace("_", " "))


main()
