"""Compares three: vectors.jsonl, the second implementation in fingerprint.py, and the command, the last two also with
random texts, stop words, weights and counts of documents. The hash java128 is compared with Java, if it is there.

  test_fingerprint.py SSTORE [SEED]       SSTORE is the command
  test_fingerprint.py --write             compute the fingerprints in vectors.jsonl again, by fingerprint.py

A line of vectors.jsonl is an object: `text`, or `bytes` in hexadecimal; `features`, `shingle` and `weights`, as the options
of `sstore fingerprint`, `markup` if it is not none, and `hash`, as recipes name it, if it is not xxh3-64; `count`, how many
features the text has; and `fingerprint`. A line with `tokens` in the place of `text` has weighted features: pairs of feature
and weight, all without other options.
"""

import collections
import html.entities
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from typing import Any

from fingerprint import (HASHES, Lexicon, bits_of, features, fingerprint, fold, minhash, read_frequencies, runs, simhash, written,
                         xxh3_64)

VECTORS = pathlib.Path(__file__).with_name("vectors.jsonl")
OPTIONS = ("features", "shingle", "weights")
RANDOM_TEXTS = 500
RANDOM_OPTIONS = [("words", 1, "presence"), ("words", 3, "frequency"), ("chars", 1, "frequency"), ("chars", 1, "sublinear"),
                  ("chars", 4, "frequency")]
# A MinHash has any multiple of 64 bits; these differ in how many rounds they need, and whether they are a power of two.
MINHASHES = ("minhash-64", "minhash-192", "minhash-256", "minhash-1024")
RANDOM_SETS = 120
RANDOM_PAGES = 3000
RANDOM_SEGMENTED = 300
RANDOM_TOKENS = 400
JAVA = pathlib.Path(__file__).with_name("JavaSimhash.java")
# Of these, random HTML consists.
PIECES = """< > / = ! - -- ? & ; # ' " [ ] ]]> <![CDATA[ <!-- --> --!> <!DOCTYPE <?xml </ /> &# &#x &#X 0 9 128 a f 159
  d800 10ffff 110000 0000000000000000065 99999999999999999999 &amp; &AMP; &lt; &lt &nbsp; &notit; &not;
  &thetasym; &thetasyms; &apos; &Eacute; &rang; <b> </b> <p> <br/> <script> </script </script> </scripts>
  </Script/> <style> <template> <iframe> <textarea> <title> </title> <noscript> word Word é 中 文""".split()
PIECES += ['<I class="x>y">', "</P >", "<a href='>'>", "<td x=y>", """<spAn x = "'" y='"' z>""", "<SCRIPT src=x/>",
           "<script src=x />", "</style\t>", "</template\n>", "<x\0y>", "\0", "\u0301", " ", "\n", "\f", "\x0b"]
# The elements of HTML 4 and 5, most of them, and what is none.
ELEMENTS = """a abbr acronym address applet area article aside audio b base basefont bb bdi bdo big blink blockquote body br
  button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset
  figcaption figure font footer form frame frameset h1 h2 h6 head header hr html i iframe img input ins isindex kbd label
  legend li link main map mark marquee menu meta meter nav nobr noembed noframes noscript object ol optgroup option output p
  param picture plaintext pre progress q rb rp rt rtc ruby s samp script section select slot small source span spans strike
  strong style sub summary sup svg table tbody td template templates textarea tfoot th thead time title tr track tt u ul
  var video wbr xmp""".split()
# Of these, random texts consist: each range has code points that fold, decompose, combine or separate in some way.
RANGES = [(0x00, 0x7F), (0x20, 0x20), (0x41, 0x7A), (0x80, 0x24F), (0x300, 0x345), (0x370, 0x58F), (0x590, 0x6FF),
          (0x900, 0x9FF), (0xE00, 0xEFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1E00, 0x206F), (0x2100, 0x218F),
          (0x3000, 0x30FF), (0x4E00, 0x4EFF), (0xAC00, 0xACFF), (0xF900, 0xFAFF), (0xFE00, 0xFFFF),
          (0x1D150, 0x1D170), (0x1F600, 0x1F64F), (0x20000, 0x20010), (0x2F800, 0x2F810)]


def data_of(vector: dict[str, Any]) -> bytes:
    return bytes.fromhex(vector["bytes"]) if "bytes" in vector else vector["text"].encode()


def read_vectors() -> list[dict[str, Any]]:
    return [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]


def tokens_of(vector: dict[str, Any]) -> list[tuple[bytes, float]]:
    return [(token.encode(), weight) for token, weight in vector["tokens"]]


def weighted_by_page(document: list[tuple[bytes, float]], by: str) -> int:
    return minhash({f: int(count) for f, count in document}, bits_of(by)) if "minhash" in by else simhash(document, by)


def found_by_page(vector: dict[str, Any]) -> tuple[int, str]:
    """The number of features of a vector, and its fingerprint, both by fingerprint.py."""
    by = vector.get("hash", "xxh3-64")
    if "tokens" in vector:
        return len(vector["tokens"]), written(weighted_by_page(tokens_of(vector), by), by)
    data, kind, n, weights = data_of(vector), *(vector[key] for key in OPTIONS)
    markup = vector.get("markup", "none")
    made = fingerprint(data, kind, n, weights, markup, by=by)
    return len(features(data, kind, n, markup)), written(made, by)


def write_vectors() -> None:
    lines = []
    for vector in read_vectors():
        vector["count"], vector["fingerprint"] = found_by_page(vector)
        lines.append(json.dumps(vector, ensure_ascii=False) + "\n")
    VECTORS.write_text("".join(lines), encoding="utf-8")


def hash_options(by: str) -> list[str]:
    name = by.rstrip("0123456789").rstrip("-") if by != "java128" else by
    return ["--hash", name, "--bits", str(bits_of(by))]


def by_command(sstore: str, texts: list[bytes], kind: str, n: int, weights: str, *more: str,
               by: str = "xxh3-64") -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{i}" for i in range(len(texts))]
        for path, text in zip(paths, texts):
            pathlib.Path(path).write_bytes(text)
        command = [sstore, "fingerprint", "--no-comments", "--binary", "--features", kind, "--shingle", str(n)]
        command += ["--weights", weights, *hash_options(by), *more, *paths]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {int(number): made for made, number, _ in (line.split("\t", 2) for line in printed.splitlines())}
    nothing = written(weighted_by_page([], by), by)
    return [found.get(i, nothing) for i in range(len(texts))]  # it leaves out texts without features


def weighted_by_command(sstore: str, documents: list[list[tuple[bytes, float]]], by: str) -> list[str]:
    """Of documents of features and weights; none may be empty."""
    lines = b"\n".join(b"".join(b"%s\t%s\n" % (feature, repr(weight).encode()) for feature, weight in document)
                       for document in documents)
    command = [sstore, "fingerprint", "--weighted", *hash_options(by)]
    printed = subprocess.run(command, input=lines, check=True, capture_output=True).stdout.decode()
    return [line.split("\t")[0] for line in printed.splitlines()]


def random_text(source: random.Random) -> bytes:
    """A text of few different code points, so that they meet, with some wrong bytes."""
    few = [chr(source.randint(*source.choice(RANGES))) for _ in range(source.randint(1, 8))]
    few = [c for c in few if unicodedata.category(c) != "Cn"] or ["x"]  # assigned, whatever the version of Unicode
    data = b""
    for _ in range(source.randint(0, 120)):
        data += bytes([source.randrange(256)]) if source.random() < 0.02 else source.choice(few).encode()
    return data


def random_page(source: random.Random) -> bytes:
    """HTML, mostly broken, and of few different pieces, so that they meet."""
    few = [piece.encode() for piece in source.choices(PIECES, k=source.randint(1, 12))]
    data = b""
    for _ in range(source.randint(0, 40)):
        data += bytes([source.randrange(256)]) if source.random() < 0.05 else source.choice(few)
    return data


def random_spaceless(source: random.Random) -> bytes:
    """A text mainly of the scripts that ICU cuts."""
    scripts = [(0x4E00, 0x9FBF), (0x3041, 0x3096), (0x30A1, 0x30FC), (0xE01, 0xE3A), (0xE81, 0xEB0), (0x1000, 0x103F),
               (0x1780, 0x17D0), (0x20000, 0x20100), (0x1A20, 0x1A50)]
    script = source.choice(scripts)
    common = "的一是不了在人有我他这中大来上国和也子时道说出年得就那要下以生会自着去之过家学对可里后กขคงจชซดตถทนบปพมยรลวสหอะาิี"
    text = ""
    for _ in range(source.randint(0, 200)):
        choices = [source.choice(common), chr(source.randint(*script)), source.choice("aZ9 ,。\u0301\u3099\u0e38\ufffd"),
                   chr(source.randint(*source.choice(scripts)))]
        text += source.choices(choices, (50, 30, 15, 5))[0]
    return "".join(c for c in text if unicodedata.category(c) != "Cn").encode()


def test_vectors(sstore: str) -> None:
    vectors = read_vectors()
    for vector in vectors:
        assert found_by_page(vector) == (vector["count"], vector["fingerprint"]), vector
        by = vector.get("hash", "xxh3-64")
        if "tokens" in vector:
            assert weighted_by_command(sstore, [tokens_of(vector)], by) == [vector["fingerprint"]], vector
            continue
        data, kind, n, weights = data_of(vector), *(vector[key] for key in OPTIONS)
        markup = vector.get("markup", "none")
        assert by_command(sstore, [data], kind, n, weights, "--markup", markup, by=by) == [vector["fingerprint"]], vector
    print(f"figure: {len(vectors)} vectors")


def test_random_texts(sstore: str, seed: int) -> None:
    source = random.Random(seed)
    print(f"seed {seed}")
    for kind, n, weights in RANDOM_OPTIONS:
        texts = [random_text(source) for _ in range(RANDOM_TEXTS // len(RANDOM_OPTIONS))]
        for by in HASHES:
            for text, found in zip(texts, by_command(sstore, texts, kind, n, weights, by=by)):
                assert found == written(fingerprint(text, kind, n, weights, by=by), by), (text, kind, n, weights, by)
    print(f"figure: {RANDOM_TEXTS} random texts, by {len(HASHES)} hashes")


def test_random_weights(sstore: str, seed: int) -> None:
    """Features of any bytes but those that end lines; few different weights, so that sums are 0."""
    source = random.Random(seed + 3)
    documents = []
    for _ in range(RANDOM_TOKENS):
        choices = [random_text(source).translate(None, b"\n\r") for _ in range(source.randint(1, 6))]
        weights = source.choice([[1.0], [1.0, -1.0, 2.0], [0.5, 2.5, -3.0, 2**-20, 1e6]])
        document = [(source.choice(choices), source.choice(weights)) for _ in range(source.randint(1, 20))]
        documents.append(document)
    for by in HASHES:
        found = weighted_by_command(sstore, documents, by)
        assert len(found) == len(documents)
        for document, made in zip(documents, found):
            assert made == written(simhash(document, by), by), (document, by)
    print(f"figure: {RANDOM_TOKENS} random documents of weighted features, by {len(HASHES)} hashes")


def random_words(source: random.Random) -> bytes:
    """From one word on, some of them repeated."""
    different = source.choice([1, 2, 3, 10, 100, 1000])
    return " ".join(f"w{source.randrange(different)}" for _ in range(source.randint(1, 3 * different))).encode()


def test_random_sets(sstore: str, seed: int) -> None:
    """MinHashes of texts, and of lists of features with the numbers of their occurrences."""
    source = random.Random(seed + 5)
    for by in MINHASHES:
        for weights in ("presence", "frequency"):
            texts = [source.choice([random_text, random_words])(source) for _ in range(RANDOM_SETS // 8)]
            for text, found in zip(texts, by_command(sstore, texts, "words", 2, weights, by=by)):
                assert found == written(fingerprint(text, "words", 2, weights, by=by), by), (text, weights, by)
        documents: list[list[tuple[bytes, float]]] = []
        for _ in range(RANDOM_SETS // 8):
            names = [b"f%d" % i for i in source.sample(range(1000), source.choice([1, 2, 20, 300]))]
            documents.append([(name, float(source.choice([0, 1, 1, 2, 9]))) for name in names])
        for document, found in zip(documents, weighted_by_command(sstore, documents, by), strict=True):
            assert found == written(weighted_by_page(document, by), by), (document, by)
    print(f"figure: {RANDOM_SETS} random texts, and half as many lists of features, by {len(MINHASHES)} MinHashes")


def by_java(texts: list[bytes], bits: int) -> list[str] | None:
    """None: there is no Java that runs source files."""
    if shutil.which("java") is None:
        return None
    lines = "".join(f"{text.hex()}\n" for text in texts)
    run = subprocess.run(["java", str(JAVA), str(bits)], input=lines, capture_output=True, text=True)
    if run.returncode == 0:
        return run.stdout.split()
    # Only a JDK from version 11 on runs source files.
    assert "jdk.compiler" in run.stderr or "Could not find or load main class" in run.stderr, run.stderr
    return None


def test_java(sstore: str, seed: int) -> None:
    """The tokens of texts, counted, as the Java program counts them; also with 64 bits, which are the last of 128."""
    source = random.Random(seed + 4)
    texts = [random_text(source).decode("utf-8", "replace").encode() for _ in range(RANDOM_TEXTS)]
    # Between tokens: what StringTokenizer takes as such, and white space that it does not.
    texts += [b"".join(source.choice([b"a", b"bc", "\u732b".encode(), b" ", b"\t", b"\n", b"\r", b"\f", b"\v", b"\0",
                                      "\u3000".encode(), "\xa0".encode(), "\U0001f600".encode()])
                       for _ in range(source.randint(0, 40))) for _ in range(RANDOM_TEXTS)]
    texts += [b" ".join(token for token, _ in tokens_of(vector)) for vector in read_vectors()
              if vector.get("hash") == "java128" and "tokens" in vector]
    found, short = by_java(texts, 128), by_java(texts, 64)
    if found is None or short is None:
        print("not tried: the Java program, which needs a JDK (Debian: default-jdk-headless)")
        return
    assert len(found) == len(short) == len(texts)
    documents = []
    for text, made, last in zip(texts, found, short):
        counts = collections.Counter(token for token in re.split(rb"[ \t\n\r\f]+", text) if token)
        assert made == written(simhash([*counts.items()], "java128"), "java128"), text
        assert made.endswith(last), text
        if counts:
            documents.append((sorted(counts.items()), made))
    by_weights = weighted_by_command(sstore, [document for document, _ in documents], "java128")
    assert by_weights == [made for _, made in documents]
    print(f"figure: {len(texts)} texts by Java, {len(documents)} of them as weighted features")


def random_lexicon(texts: list[bytes], kind: str, n: int, source: random.Random) -> Lexicon:
    lexicon = Lexicon()
    if kind == "words":
        words = sorted({unit for text in texts for _, units in runs(fold(text)) for unit in units})
        lexicon.stop_words = set(source.sample(words, min(len(words), 3)))
    found = sorted({feature for text in texts for feature in features(text, kind, n, stop_words=lexicon.stop_words)})
    # A feature of fewer than n units, or one with a tab, cannot be told from the text of another.
    found = [f for f in found if features(f.encode(), kind, n, stop_words=lexicon.stop_words) == [f] and f.isprintable()]
    for feature in source.sample(found, min(len(found), 5)):
        lexicon.weights[feature] = source.choice([0, -1, 2.5, 0.1, 1e9, source.random()])
    return lexicon


def test_lexicons(sstore: str, seed: int) -> None:
    """Also the table of counts, and the recipe."""
    source = random.Random(seed + 1)
    for kind, n, weights, levels, by in [("words", 1, "frequency", 0, "xxh3-64"), ("words", 2, "sublinear", 5, "xxh3-128"),
                                         ("chars", 3, "presence", 9, "java128")]:
        texts = [random_text(source) for _ in range(60)]
        lexicon = random_lexicon(texts, kind, n, source)
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/{i:02}" for i in range(len(texts))]
            for path, text in zip(paths, texts):
                pathlib.Path(path).write_bytes(text)
            pathlib.Path(f"{folder}/stop").write_text("".join(f"{word}\n" for word in lexicon.stop_words), "utf-8")
            lines = "".join(f"{feature}\t{weight!r}\n" for feature, weight in lexicon.weights.items())
            pathlib.Path(f"{folder}/weights").write_text(lines, "utf-8")
            how = ["--binary", "--features", kind, "--shingle", str(n)]
            how += ["--stop-words", f"{folder}/stop"] if lexicon.stop_words else []
            subprocess.run([sstore, "idf", *how, f"{folder}/table", *paths], check=True, capture_output=True)
            found, lexicon.frequencies = read_frequencies(pathlib.Path(f"{folder}/table").read_bytes(), levels)
            how += ["--weights", weights, "--feature-weights", f"{folder}/weights", "--idf", f"{folder}/table"]
            how += ["--levels", str(levels)] if levels else []
            how += hash_options(by)
            run = subprocess.run([sstore, "fingerprint", *how, *paths], check=True, capture_output=True, text=True)
            first, _, *printed = run.stdout.splitlines()

        counts: collections.Counter[int] = collections.Counter()
        documents = 0
        for text in texts:
            different = set(features(text, kind, n, stop_words=lexicon.stop_words))
            documents += bool(different)
            counts.update(xxh3_64(feature.encode()) for feature in different)
        assert lexicon.frequencies.documents == documents
        assert lexicon.frequencies.counts == {hashed: count for hashed, count in counts.items() if count > 1}

        stop_words, factors = lexicon.fields()
        head = f"sstore-text-1 features={kind} shingle={n}{stop_words}"
        assert found.startswith(f"{head} hash=xxh3-64 unicode="), found
        assert first.startswith(f"# recipe: {head} weights={weights}{factors} hash={by} unicode="), first
        for line in printed:
            made, number, _ = line.split("\t", 2)
            text = texts[int(number)]
            wanted = written(fingerprint(text, kind, n, weights, lexicon=lexicon, by=by), by)
            assert made == wanted, (text, kind, n, weights, by, lexicon)
    print("figure: 180 random texts with stop words, weights and counts of documents")


def test_random_pages(sstore: str, seed: int) -> None:
    source = random.Random(seed + 1)
    for kind in ("words", "chars"):
        pages = [random_page(source) for _ in range(RANDOM_PAGES // 2)]
        for page, found in zip(pages, by_command(sstore, pages, kind, 2, "frequency", "--markup", "html")):
            assert found == f"{fingerprint(page, kind, 2, 'frequency', 'html'):016x}", (page, kind)
    print(f"figure: {RANDOM_PAGES} random pages of HTML")


def test_elements(sstore: str) -> None:
    pages = [f"a<{name}>b</{name.upper()}>c".encode() for name in ELEMENTS]
    for page, found in zip(pages, by_command(sstore, pages, "chars", 9, "frequency", "--markup", "html")):
        assert found == f"{fingerprint(page, 'chars', 9, markup='html'):016x}", page
    print(f"figure: {len(pages)} elements")


def test_references(sstore: str) -> None:
    """Each alone: every name of HTML 5, of which only those of HTML 4 are known, and the numbers about each limit."""
    numbers = [*range(0x180), *(near + i for near in (0xD800, 0xE000, 0xFFFE, 0x110000, 1 << 32) for i in range(-2, 3))]
    texts = [f"&{name}".encode() for name in html.entities.html5]
    texts += [form % number for number in numbers for form in (b"&#%d;", b"&#x%x;")]
    for text, found in zip(texts, by_command(sstore, texts, "chars", 9, "frequency", "--markup", "html")):
        assert found == f"{fingerprint(text, 'chars', 9, markup='html'):016x}", text
    print(f"figure: {len(texts)} references")


def test_random_segmented(sstore: str, seed: int) -> None:
    """Both ask ICU; what it is asked, and what becomes of its answer, are compared."""
    recipe = subprocess.run([sstore, "fingerprint", "--segment", "icu", "--recipe"], capture_output=True, text=True)
    version = re.search(r" segment=icu-([0-9.]+) ", recipe.stdout)
    if not version:
        print(f"not tried: words found by ICU: {recipe.stderr.strip()}")
        return
    source = random.Random(seed + 2)
    texts = [random_spaceless(source) for _ in range(RANDOM_SEGMENTED)]
    texts.append(("的" + "电脑" * 32768 + "\u0301x").encode())  # longer than a stretch
    for n in (1, 3):
        for text, found in zip(texts, by_command(sstore, texts, "words", n, "presence", "--segment", "icu")):
            assert found == f"{fingerprint(text, 'words', n, 'presence', icu=version.group(1)):016x}", (text, n)
    print(f"figure: {len(texts)} random texts cut by ICU {version.group(1)}")


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write_vectors()
    else:
        test_vectors(sys.argv[1])
        test_elements(sys.argv[1])
        test_references(sys.argv[1])
        chosen = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
        for test in (test_random_texts, test_random_weights, test_random_sets, test_java, test_random_pages, test_random_segmented,
                     test_lexicons):
            test(sys.argv[1], chosen)
