"""Fingerprints of texts and features, compared with the command's."""

from __future__ import annotations

import math
import pathlib
import subprocess
import sys
from typing import Any, Union

import numpy as np
import pytest

import sstore

pyarrow = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")
COMMAND = pathlib.Path(sys.executable).with_name("sstore")
TEXTS = ["the quick brown fox", "", "ÀÉÎ straße Ωmega", "你好世界 hello", "a" * 5000, "x\ty z"]


def of_command(texts: list[str], *options: str, without: int = 0) -> list[int]:
    """`without`: what a text without features has."""
    ran = subprocess.run(
        [COMMAND, "fingerprint", "--no-comments", "--lines", *options],
        input="\n".join(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    found = {int(number): int(made, 16) for made, number in (line.split("\t") for line in ran.stdout.splitlines())}
    return [found.get(number, without) for number in range(len(texts))]  # it leaves out texts without features


def numbers(fingerprints: Any) -> list[int]:
    """Of rows of two words."""
    return [int(high) << 64 | int(low) for high, low in fingerprints]


def test_texts() -> None:
    texts = TEXTS * 200
    plain = [text.replace("\t", " ") for text in texts]
    for features in ("words", "chars"):
        for shingle in (0, 1, 5):
            expected = of_command(plain, "--features", features, *(["--shingle", str(shingle)] if shingle else []))
            forms: list[Any] = [
                plain,
                tuple(plain),
                iter(plain),
                [text.encode() for text in plain],
                np.array(plain, object),
                pyarrow.array(plain),
                pyarrow.array(plain, "large_string"),
                pyarrow.array(["unseen", *plain])[1:],
                pyarrow.array(plain).dictionary_encode(),
                pyarrow.array(plain, pyarrow.string_view()),
                polars.Series(plain),
                pyarrow.chunked_array([plain[:100], plain[100:]]),
            ]
            for threads in (0, 1, 3):
                for form in forms if threads == 0 else forms[:1]:
                    found = sstore.simhash(form, features, shingle=shingle, threads=threads)
                    assert found.dtype == np.uint64 and found.tolist() == expected
    assert sstore.simhash([]).tolist() == [] and sstore.simhash(pyarrow.array([], "string")).tolist() == []


def test_bits_and_hash() -> None:
    texts = [text.replace("\t", " ") for text in TEXTS * 200]
    ones = (1 << 128) - 1
    choices: list[tuple[dict[str, Any], list[str], int]] = [
        ({"bits": 128}, ["--bits", "128"], 0),
        ({"hash": "java128"}, ["--hash", "java128"], ones),
        ({"hash": "java128", "weights": "frequency"}, ["--hash", "java128", "--weights", "frequency"], ones),
        ({"bits": 128, "lexicon": sstore.Lexicon()}, ["--bits", "128"], 0),
    ]
    for arguments, options, without in choices:
        expected = of_command(texts, *options, without=without)
        forms: list[Any] = [texts, iter(texts), pyarrow.array(texts), pyarrow.array(texts, pyarrow.string_view())]
        forms.append(pyarrow.chunked_array([texts[:100], texts[100:]]))
        for form in forms:
            found = sstore.simhash(form, **arguments)
            assert found.dtype == np.uint64 and found.shape == (len(texts), 2) and numbers(found) == expected
        assert sstore.simhash(texts, threads=1, **arguments).tolist() == found.tolist()
        recipe = subprocess.run([COMMAND, "fingerprint", "--recipe", *options], capture_output=True, text=True)
        assert sstore.text_recipe(**arguments) == recipe.stdout.rstrip()
    assert sstore.simhash([], bits=128).shape == sstore.simhash(pyarrow.array([], "string"), bits=128).shape == (0, 2)
    assert sstore.simhash(texts, bits=64).tolist() == sstore.simhash(texts, bits=0, hash="xxh3").tolist()
    wrong: list[dict[str, Any]] = [{"bits": 32}, {"bits": 192}, {"bits": 64, "hash": "java128"}, {"hash": "md5"}]
    for arguments in wrong:
        with pytest.raises(sstore.ArgumentError):
            sstore.simhash(["a"], **arguments)
        with pytest.raises(sstore.ArgumentError):
            sstore.text_recipe(**arguments)
        with pytest.raises(sstore.ArgumentError):
            sstore.simhash_features(["a"], **arguments)
    with pytest.raises(TypeError):
        sstore.simhash(["a"], bits="128")  # type: ignore[arg-type]


def test_minhash() -> None:
    texts = [text.replace("\t", " ") for text in TEXTS * 200]
    choices: list[tuple[dict[str, Any], list[str]]] = [
        ({}, []),
        ({"bits": 64}, ["--bits", "64"]),
        ({"bits": 1024, "weights": "frequency"}, ["--bits", "1024", "--weights", "frequency"]),
        ({"features": "chars", "shingle": 5, "bits": 192}, ["--features", "chars", "--shingle", "5", "--bits", "192"]),
        ({"lexicon": sstore.Lexicon(shingle=2)}, []),
    ]
    for arguments, options in choices:
        expected = of_command(texts, "--hash", "minhash", *options)
        for form in (texts, iter(texts), pyarrow.array(texts, pyarrow.string_view())):
            found = sstore.minhash(form, **arguments)
            width = arguments.get("bits", 256) // 64
            assert found.dtype == np.uint64 and found.shape == ((len(texts), width) if width > 1 else (len(texts),))
            rows = found.reshape(len(texts), width)
            assert [int("".join(f"{int(word):016x}" for word in row), 16) for row in rows] == expected
        recipe = subprocess.run(
            [COMMAND, "fingerprint", "--hash", "minhash", "--recipe", *options], capture_output=True, text=True
        )
        assert sstore.text_recipe(**{"hash": "minhash", **arguments}) == recipe.stdout.rstrip()
    with_null: Any = ["a b", None]
    masked: Any = sstore.minhash(with_null, nulls="mask")
    assert masked.mask.tolist() == [[False] * 4, [True] * 4]
    words = "the quick brown fox jumps over the lazy dog".split()
    pairs = [f"{left} {right}" for left, right in zip(words, words[1:])]
    assert sstore.minhash([" ".join(words)])[0].tolist() == sstore.minhash_features(set(pairs)).tolist()
    assert (
        sstore.minhash(["a b a b a b"], weights="frequency", bits=128)[0].tolist()
        == sstore.minhash_features({"a b": 3, "b a": 2}, bits=128).tolist()
        == sstore.minhash_features(["a b", "b a", "a b", "b a", "a b"], bits=128).tolist()
    )
    wrong: list[tuple[Any, dict[str, Any]]] = [
        *((sstore.minhash, {"texts": ["a"], "bits": bits}) for bits in (0, 32, 100, 1088)),
        *((sstore.minhash_features, {"features": ["a"], "bits": bits}) for bits in (0, 32, 100, 1088)),
        *((sstore.minhash_features, {"features": {"a": count}}) for count in (-1, 0.5, math.nan)),
        (sstore.minhash, {"texts": ["a"], "weights": "sublinear"}),
        (sstore.minhash, {"texts": ["a"], "lexicon": sstore.Lexicon(shingle=2, feature_weights={"a b": 2})}),
        (sstore.simhash, {"texts": ["a"], "hash": "minhash"}),
        (sstore.simhash_features, {"features": ["a"], "hash": "minhash"}),
        (sstore.minhash_distance, {"similarity": 1.1}),
        (sstore.minhash_distance, {"similarity": 0.5, "recall": 1}),
        (sstore.minhash_similarity, {"distance": 3, "bits": 65}),
    ]
    for call, arguments in wrong:
        with pytest.raises(sstore.ArgumentError):
            call(**arguments)
    with pytest.raises(TypeError):
        sstore.minhash("one")


def test_minhash_tells_similarity(rng: np.random.Generator) -> None:
    """Of 1,000 pairs of sets, at most 3 % are farther than the distance that finds 99 %."""
    for bits, common, size in ((256, 80, 100), (512, 45, 50)):
        similarity = common / (2 * size - common)
        distance = sstore.minhash_distance(similarity, bits)
        found = []
        for _ in range(1000):
            names = [f"f{number}" for number in rng.integers(0, 1 << 62, 2 * size)]
            left = sstore.minhash_features(names[:size], bits=bits)
            right = sstore.minhash_features(names[size - common : 2 * size - common], bits=bits)
            found.append(sstore.hamming_distance(left, right))
        assert sum(each > distance for each in found) <= 30
        assert abs(sstore.minhash_similarity(found, bits).mean() - similarity) < 0.02
        assert float(sstore.minhash_similarity(bits // 4, bits)) == 0.5


def test_wrong_texts() -> None:
    wrong: Any
    for wrong in ("one", b"one", [1], [None], pyarrow.array([1]), pyarrow.array(["a", None])):
        with pytest.raises((TypeError, ValueError)):
            sstore.simhash(wrong)
    with pytest.raises(ValueError, match="features"):
        sstore.simhash(["a"], "letters")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="weights"):
        sstore.simhash(["a"], weights="tf")  # type: ignore[arg-type]
    with pytest.raises(sstore.ArgumentError):
        sstore.simhash(["a"], shingle=65)


def test_markup_and_segments(tmp_path: pathlib.Path) -> None:
    pages = ["<p>the <b>qui</b>ck&nbsp;fox</p><script>no text</script>", "<!-- nothing -->", "3 < 4 &amp; 5"]
    assert sstore.simhash(pages, markup="html").tolist() == of_command(pages, "--markup", "html")
    assert sstore.simhash(pages[:1], markup="html") == sstore.simhash(["the quick fox"])
    assert " markup=html " in sstore.text_recipe(markup="html")
    for argument in ({"markup": "xml"}, {"segment": "words"}, {"features": "chars", "segment": "icu"}):
        with pytest.raises(sstore.ArgumentError):
            sstore.simhash(["a"], **argument)  # type: ignore[arg-type]
    texts = ["我们都爱冰淇淋", "plain"]
    try:
        found = sstore.simhash(texts, segment="icu").tolist()
    except sstore.UnsupportedError as error:  # as in the wheel
        assert "ICU" in str(error)
        with pytest.raises(sstore.UnsupportedError):
            sstore.Lexicon(segment="icu")
    else:
        assert found == of_command(texts, "--segment", "icu")


def test_lexicon(tmp_path: pathlib.Path) -> None:
    texts = ["the cat sat on the mat", "The cat sat", "a dog", "the the", "", "猫的狗的猫"] * 50
    (tmp_path / "texts").write_text("\n".join(texts), encoding="utf-8")
    (tmp_path / "stop").write_text("the\n的\n", encoding="utf-8")
    (tmp_path / "weights").write_text("cat\t2.5\ndog\t-1\n", encoding="utf-8")
    how = ["--shingle", "1", "--stop-words", str(tmp_path / "stop")]
    table = tmp_path / "table"
    subprocess.run([COMMAND, "idf", "--lines", *how, table, tmp_path / "texts"], check=True, capture_output=True)
    for levels in (0, 5):
        for idf in (table, str(table), memoryview(table.read_bytes())):
            lexicon = sstore.Lexicon(
                shingle=1,
                stop_words=iter(["THE", "的"]),
                feature_weights={"cat": 2.5, "Dog": -1},
                idf=idf,
                levels=levels,
            )
            more = ["--feature-weights", str(tmp_path / "weights"), "--idf", str(table)]
            more += ["--levels", str(levels)] if levels else []
            expected = of_command(texts, *how, *more)
            assert sstore.simhash(texts, shingle=1, lexicon=lexicon).tolist() == expected
            recipe = subprocess.run([COMMAND, "fingerprint", "--recipe", *how, *more], capture_output=True, text=True)
            assert sstore.text_recipe(shingle=1, lexicon=lexicon) == recipe.stdout.rstrip()
    assert sstore.simhash(texts, lexicon=sstore.Lexicon()).tolist() == sstore.simhash(texts).tolist()


def test_wrong_lexicons(tmp_path: pathlib.Path) -> None:
    wrong: Any
    for wrong in (
        {"stop_words": ["two words"]},
        {"stop_words": [""]},
        {"feature_weights": {"a b c d": 1}},
        {"feature_weights": {"a": math.nan}},
        {"shingle": 65},
        {"features": "letters"},
        {"features": "chars", "stop_words": ["a"]},
        {"levels": 5},
        {"levels": 256, "idf": memoryview(b"")},
    ):
        with pytest.raises(sstore.ArgumentError):
            sstore.Lexicon(**wrong)
    for wrong in ({"stop_words": "the"}, {"stop_words": [b"the"]}, {"feature_weights": {1: 1}}, {"shingle": "3"}):
        with pytest.raises(TypeError):
            sstore.Lexicon(**wrong)
    with pytest.raises(sstore.UnsupportedError):
        sstore.Lexicon(idf=memoryview(b"no table"))
    with pytest.raises(sstore.DamagedError):
        sstore.Lexicon(idf=memoryview(b"\x89sstidf\n cut short"))
    with pytest.raises(OSError):
        sstore.Lexicon(idf=tmp_path / "absent")
    with pytest.raises(sstore.ArgumentError, match="lexicon"):
        sstore.simhash(["a"], shingle=2, lexicon=sstore.Lexicon(shingle=1))
    with pytest.raises(TypeError, match="lexicon"):
        sstore.simhash(["a"], lexicon={"a": 1})  # type: ignore[arg-type]


def test_weights() -> None:
    text = "b a a c a a b a a"
    counts = {"a": 6, "b": 2, "c": 1}
    for weights, expected in (
        ("frequency", counts),
        ("sublinear", {word: 1 + math.log2(count) for word, count in counts.items()}),
        ("presence", dict.fromkeys(counts, 1)),
    ):
        made = sstore.simhash([text], shingle=1, weights=weights)  # type: ignore[arg-type]
        assert made[0] == sstore.simhash_features(expected)
    assert "weights=sublinear" in sstore.text_recipe(weights="sublinear")


def test_recipe(tmp_path: pathlib.Path) -> None:
    recipe = sstore.text_recipe("chars", shingle=3)
    assert "features=chars" in recipe and "shingle=3" in recipe
    sstore.build(tmp_path / "a", sstore.simhash(["a"]), recipe=recipe)
    sstore.open(tmp_path / "a", recipe=recipe)
    with pytest.raises(ValueError):
        sstore.text_recipe(shingle=65)


def test_features() -> None:
    weighted: dict[Union[str, bytes], float] = {"one": 2.5, b"two": -1.0, "three": 0.25}
    ran = subprocess.run(
        [COMMAND, "fingerprint", "--weighted"],
        input="one\t2.5\ntwo\t-1\nthree\t0.25\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert sstore.simhash_features(weighted) == int(ran.stdout.split("\t")[0], 16)
    assert sstore.simhash_features(["a", "b", "a"]) == sstore.simhash_features({"a": 2.0, "b": 1.0})
    assert sstore.simhash_features([]) == 0
    assert sstore.simhash_features(["\ud800"]) != 0
    with pytest.raises(TypeError):
        sstore.simhash_features("one")
    with pytest.raises(ValueError):
        sstore.simhash_features({"a": float("nan")})
    assert sstore.simhash_hashes([5]) == 5
    assert sstore.simhash_hashes([5, 6, 1 << 63], [3.0, 1.0, 1.0]) == 5
    with pytest.raises(ValueError):
        sstore.simhash_hashes([5], [1.0, 2.0])


def test_wide_features() -> None:
    """The second values are those of the Java program: see format-spec/fingerprint.md."""
    wide = sstore.simhash_features({"cat": 4.0, "banana": 5.5}, bits=128)
    assert wide.dtype == np.uint64 and wide.tolist() == [0xDE06397B5877A02D, 0x5583A5477F1ED1ED]
    for tokens, high, low in (
        ("This is a test string for testing", 0x0000000020302202, 0x800D8E90E45CC488),
        ("cat cat cat sat", 0x00000000000002AE, 0xF4E945451831296F),
        ("a b", 0, 0x00000002EFAFF3E3),
        ("", (1 << 64) - 1, (1 << 64) - 1),
    ):
        assert sstore.simhash_features(tokens.split(), hash="java128").tolist() == [high, low]
    one = sstore.simhash_features(["hello"], hash="java128", bits=128)
    assert one.tolist() == sstore.simhash(["Hello"], hash="java128")[0].tolist()
    source = np.random.default_rng(5)
    for words in (2, 3, 16):
        hashes = source.integers(0, 1 << 64, (20, words), np.uint64)
        weights = source.integers(-3, 4, 20).astype(float).tolist()
        for given in (None, weights):
            found = sstore.simhash_hashes(hashes, given, bits=64 * words)
            columns = [sstore.simhash_hashes(hashes[:, word].copy(), given) for word in range(words)]
            assert isinstance(found, np.ndarray) and found.dtype == np.uint64 and found.tolist() == columns
    assert sstore.simhash_hashes(np.empty((0, 2), np.uint64), bits=128).tolist() == [0, 0]  # type: ignore[union-attr]
    for shape, bits in (((4,), 128), ((4, 3), 128), ((4, 2), 100), ((4, 17), 1088), ((4, 2), 0)):
        with pytest.raises(sstore.ArgumentError):
            sstore.simhash_hashes(np.ones(shape, np.uint64), bits=bits)
    with pytest.raises(TypeError):
        sstore.simhash_hashes(np.ones((4, 2)), bits=128)
    with pytest.raises(ValueError, match="weights"):
        sstore.simhash_hashes(np.ones((4, 2), np.uint64), [1.0] * 8, bits=128)


def test_hamming_distance() -> None:
    with pytest.raises(ValueError):
        sstore.hamming_distance(1 << 64, 0)
    assert [sstore.hamming_distance(a, b) for a, b in ((0, 0), (0, -1), (5, 6), (1 << 63, 0))] == [0, 64, 2, 1]


def test_command() -> None:
    ran = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert sstore.__version__ in ran.stdout
    assert subprocess.run([COMMAND, "nonsense"], capture_output=True).returncode == 2


def test_all_names_have_docstrings() -> None:
    for name in sstore.__all__:
        thing = getattr(sstore, name)
        if not isinstance(thing, type) and not hasattr(thing, "__code__"):
            continue  # the name of a type
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{member}"


def test_help_of_the_command() -> None:
    """It says what a wheel has not: `serve` and manual pages."""
    shown = subprocess.run([COMMAND, "--help"], capture_output=True, text=True, check=True).stdout
    assert "answer queries over HTTP; not in this build" in shown
    for text in (
        shown,
        *(subprocess.check_output([COMMAND, "build", form], text=True) for form in ("-h", "--help=all")),
    ):
        assert "man sstore-" not in text and "tools/man/sstore-" in text
