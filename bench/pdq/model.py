"""Millions of PDQ hashes like those of real pictures, from the pictures that pictures.py has found.

    model.py WORK                                   print how near the model is to real pictures
    model.py WORK --records=10000000 --out=FILE     make hashes; --queries=FILE, --hex=FILE: also queries, and the text

A hash is 256 bits: 16 x 16 coefficients of a cosine transform of the picture in 64 x 64 grey pixels, each compared with
their median; so 128 bits are ones. Bits of one picture depend on each other: a shape at a place gives coefficients of
neighbouring frequencies related signs. Independent bits, or Gaussian coefficients with the correlations of real ones,
show too little of this: two of their hashes agree in 16 given bits 1.0 or 1.4 times as often as random ones, and those
of different real pictures 2.2 to 3.5 times. So the model does not draw coefficients, but looks at real pictures:

1. All hashes of real pictures are records, also those that are alike.
2. A new picture is a random window of a real one: 40 to 100 % of its height and about as much of its width, anywhere,
   perhaps mirrored. It is hashed as PDQ does it. A window with hardly any contrast is left out, as PDQ's authors advise
   for hashes of low quality.
3. A copy is another record with some bits of a picture's hash flipped. How many follows the distribution that was
   measured with real altered copies (pictures.py edit), from none to more than 100. Which ones follows from the
   coefficients: those near the median flip first. Bits are drawn by how often they flipped in altered copies, by the
   rank of this difference and the number of flips. As many ones as zeros flip, which keeps the 128 ones.
4. A quarter of the records are copies. How many a picture has follows a power law: most have none, a few have hundreds.

Records are in random order. Queries are half copies of records, by the same model but with at most 31 flips, then half
windows of pictures of which the records have none. All follows from the seed, on the same kind of processor.

FILE gets 32 bytes a hash: four words, the first 16 hex digits first, each word little-endian.
"""
import argparse
import multiprocessing
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process for each processor, instead
import numpy

BITS, ONES = 256, 128
SIDE = 128           # of the pictures in small.npy
GRID, KEPT = 64, 16  # pixels that PDQ looks at, and frequencies that it keeps
WINDOWS = 4096
SMALLEST_WINDOW = 0.4
GOOD_QUALITY = 50
COPY_SHARE = 0.25
QUERY_FLIPS = 31
HELD_OUT = 50        # one of so many pictures is for queries alone
GROUP = 16           # pictures that a process works on at once
SURPLUS = 1.25       # of windows, since some have no contrast
FLIP_CLASSES = (2, 4, 8, 12, 16, 24, 32, 48, 64, 96, BITS)  # numbers of flips up to these share their frequencies


# ----- real hashes -----


class Real:
    """What pictures.py has found."""

    def __init__(self, work):
        with numpy.load(os.path.join(work, "pictures.npz")) as found:
            self.names, self.hashes, self.qualities = found["names"], found["hashes"], found["qualities"]
            self.coefficients = found["coefficients"]
        with numpy.load(os.path.join(work, "edits.npz")) as found:
            self.edited, self.copies, self.edits = found["pictures"], found["copies"], found["edits"]
        self.small = numpy.load(os.path.join(work, "small.npy"), mmap_mode="r")
        self.packages = numpy.array([name.split("/")[0] for name in self.names])

    def good(self):
        """One picture of each hash of good quality."""
        _, first = numpy.unique(self.hashes, axis=0, return_index=True)
        return numpy.sort(first[self.qualities[first] >= GOOD_QUALITY])


def bits_of(hashes):
    return numpy.unpackbits(hashes, axis=-1)


def ranks_of(coefficients):
    """The place of each bit's coefficient in the order of their differences from the median: 0 flips first."""
    median = numpy.partition(coefficients, ONES - 1, axis=1)[:, ONES - 1:ONES]
    order = numpy.argsort(numpy.abs(coefficients - median), axis=1)
    ranks = numpy.empty_like(order, dtype=numpy.int16)
    numpy.put_along_axis(ranks, order, numpy.arange(BITS, dtype=numpy.int16)[None], axis=1)
    return ranks


def hashes_of(coefficients):
    """PDQ's rule: a bit is one if its coefficient is above the lower median."""
    median = numpy.partition(coefficients, ONES - 1, axis=1)[:, ONES - 1:ONES]
    return numpy.packbits(coefficients > median, axis=1)


# ----- flips, learned from altered copies -----


class Flips:
    """How many bits flip, and which: by the rank of a bit, for each class of numbers of flips."""

    def __init__(self, real):
        flipped = bits_of(real.copies) != bits_of(real.hashes[real.edited])[:, None]
        counts = flipped.sum(axis=2)
        self.counts = numpy.sort(counts.ravel() + counts.ravel() % 2)  # pictures with ties flip odd numbers, rarely
        ranks = ranks_of(real.coefficients[real.edited])
        self.frequencies = numpy.zeros((len(FLIP_CLASSES), BITS))
        for i, (low, high) in enumerate(zip((0, *FLIP_CLASSES), FLIP_CLASSES)):
            picture, edit = numpy.nonzero((counts > low) & (counts <= high))
            self.frequencies[i] = numpy.bincount(ranks[picture].ravel(), flipped[picture, edit].ravel(), BITS)
            self.frequencies[i] = smooth(self.frequencies[i] / max(len(picture), 1))

    def draw_counts(self, random, count, most=BITS):
        """Even numbers of flips, as copies have them."""
        known = self.counts[self.counts <= most]
        return known[random.integers(0, len(known), count)]

    def apply(self, random, hashes, ranks, counts):
        """The hashes with so many bits flipped, half of them ones. Bits are drawn without replacement: those with the
        largest log(weight) + Gumbel noise."""
        bits = bits_of(hashes).astype(bool)
        weights = numpy.log(self.frequencies + 1e-7).astype(numpy.float32)
        score = weights[numpy.searchsorted(FLIP_CLASSES, counts)[:, None], ranks]
        score -= numpy.log(random.exponential(size=score.shape).astype(numpy.float32) + numpy.float32(1e-30))
        half = counts // 2
        for ones in (True, False):
            of_kind = numpy.where(bits_of(hashes) == ones, score, -numpy.inf)
            order = numpy.argsort(-of_kind, axis=1)[:, :max(half.max(initial=0), 1)]
            chosen = numpy.arange(order.shape[1]) < half[:, None]
            rows, places = numpy.nonzero(chosen)
            bits[rows, order[rows, places]] ^= True
        return numpy.packbits(bits, axis=1)


def smooth(values, width=9):
    """Running means: there are few copies for each rank."""
    padded = numpy.concatenate((values[:1].repeat(width // 2), values, values[-1:].repeat(width // 2)))
    return numpy.convolve(padded, numpy.ones(width) / width, "valid")


# ----- new pictures: windows of real ones -----


def cosine_matrix():
    """The rows of PDQ's transform: frequencies 1 to 16, without the constant."""
    frequency, place = numpy.arange(1, KEPT + 1)[:, None], numpy.arange(GRID)[None]
    return numpy.sqrt(2 / GRID) * numpy.cos(numpy.pi / (2 * GRID) * frequency * (2 * place + 1))


def sampling_matrix(low, high):
    """From SIDE pixels to the GRID pixels of the window from low to high, each the mean of four places, interpolated;
    mirrored if high < low."""
    samples = 4 * GRID
    places = (low + (numpy.arange(samples) + 0.5) / samples * (high - low) - 0.5).clip(0, SIDE - 1)
    left = numpy.minimum(places.astype(int), SIDE - 2)
    matrix = numpy.zeros((samples, SIDE))
    matrix[numpy.arange(samples), left] = 1 - (places - left)
    matrix[numpy.arange(samples), left + 1] = places - left
    return matrix.reshape(GRID, 4, SIDE).mean(axis=1)


def window_matrices(seed):
    """WINDOWS matrices of KEPT x SIDE, ascending by the size of the window: they take the cosine transform of it."""
    random = numpy.random.default_rng((seed, 1))
    sizes = SIDE * numpy.linspace(SMALLEST_WINDOW, 1, WINDOWS)
    lows = random.random(WINDOWS) * (SIDE - sizes)
    mirrored = random.random(WINDOWS) < 0.5
    cosine = cosine_matrix()
    ends = numpy.where(mirrored, [lows + sizes, lows], [lows, lows + sizes])
    return numpy.array([cosine @ sampling_matrix(low, high) for low, high in ends.T], dtype=numpy.float32)


def transform(picture, rows, columns):
    """The coefficients of windows of a picture, given by a matrix of each for the rows and the columns, in the order
    of a hash's hex form: the highest frequencies first."""
    by_rows = (rows.reshape(-1, SIDE) @ picture).reshape(len(rows), KEPT, SIDE)
    return numpy.matmul(by_rows, columns.transpose(0, 2, 1)).reshape(len(rows), BITS)[:, ::-1]


def contrast(coefficients):
    return numpy.sqrt(numpy.square(coefficients).mean(axis=1))


class Windows:
    def __init__(self, real, seed):
        self.small, self.seed, self.matrices = real.small, seed, window_matrices(seed)
        whole = (cosine_matrix() @ sampling_matrix(0, SIDE)).astype(numpy.float32)[None]
        self.whole = numpy.concatenate([transform(self.picture(i), whole, whole) for i in range(len(real.names))])
        # As few whole pictures of good quality have less.
        self.least = numpy.quantile(contrast(self.whole[real.qualities >= GOOD_QUALITY]), 0.01)

    def picture(self, index):
        return self.small[index].astype(numpy.float32)

    def draw(self, random, index, count):
        """Coefficients of at most `count` windows of a picture."""
        tried = round(count * SURPLUS)
        row = random.integers(0, WINDOWS, tried)
        column = (row + random.normal(0, WINDOWS / 12, tried)).astype(int).clip(0, WINDOWS - 1)
        found = transform(self.picture(index), self.matrices[row], self.matrices[column])
        return found[contrast(found) >= self.least][:count]


# ----- making records and queries -----


class Maker:
    """Makes what belongs to a group of pictures, from the seed and the group alone."""

    def __init__(self, real, seed):
        self.seed, self.flips, self.windows = seed, Flips(real), Windows(real, seed)
        good = real.good()
        held = numpy.arange(len(good)) % HELD_OUT == HELD_OUT - 1
        self.pictures, self.held_out = good[~held], good[held]
        self.real = real

    def copy_counts(self, random, count):
        """Of each picture: a power law whose mean gives COPY_SHARE of all records."""
        mean = COPY_SHARE / (1 - COPY_SHARE)
        return random.poisson(mean / 2 / numpy.sqrt(random.random(count)))

    def with_copies(self, random, hashes, ranks):
        origin = numpy.repeat(numpy.arange(len(hashes)), self.copy_counts(random, len(hashes)))
        copies = self.flips.apply(random, hashes[origin], ranks[origin], self.flips.draw_counts(random, len(origin)))
        return numpy.concatenate((hashes, copies)), numpy.concatenate((ranks, ranks[origin]))

    def queries(self, random, hashes, ranks, count):
        """Copies of some of the records; and of which."""
        chosen = random.integers(0, len(hashes), count)
        counts = self.flips.draw_counts(random, count, QUERY_FLIPS)
        return self.flips.apply(random, hashes[chosen], ranks[chosen], counts), chosen

    def group(self, number, windows_each, queries):
        random = numpy.random.default_rng((self.seed, 2, number))
        pictures = self.pictures[number * GROUP:(number + 1) * GROUP]
        coefficients = numpy.concatenate([self.windows.draw(random, i, windows_each) for i in pictures])
        hashes, ranks = self.with_copies(random, hashes_of(coefficients), ranks_of(coefficients))
        return hashes, *self.queries(random, hashes, ranks, queries)

    def group_count(self):
        return -(-len(self.pictures) // GROUP)

    def whole_pictures(self):
        """All real hashes, and copies of them."""
        random = numpy.random.default_rng((self.seed, 3))
        return self.with_copies(random, self.real.hashes, ranks_of(self.real.coefficients))[0]

    def new_pictures(self, count):
        """Windows of pictures of which no others are made."""
        random = numpy.random.default_rng((self.seed, 4))
        each = -(-count * 2 // len(self.held_out))
        coefficients = numpy.concatenate([self.windows.draw(random, i, each) for i in self.held_out])
        return hashes_of(random.permutation(coefficients)[:count])


MAKER = None  # what the processes of a pool inherit


def make_group(task):
    return MAKER.group(*task)


def make(maker, record_count, query_count):
    """Records in random order, and queries."""
    global MAKER
    MAKER = maker
    hit_count = query_count // 2
    made = [maker.whole_pictures()]
    windows_each = max(1, round((record_count - len(made[0])) * (1 - COPY_SHARE) * 1.2 / len(maker.pictures)))
    queries_each = -(-hit_count * 2 // maker.group_count())
    queries, targets, total = [], [], len(made[0])
    with multiprocessing.Pool() as pool:
        tasks = [(number, windows_each, queries_each) for number in range(maker.group_count())]
        for hashes, asked, of in pool.imap(make_group, tasks, chunksize=4):
            queries.append(asked)
            targets.append(of + total)
            made.append(hashes)
            total += len(hashes)
    if total < record_count:
        raise SystemExit(f"model.py: only {total} hashes were made: too many windows had no contrast")
    random = numpy.random.default_rng((maker.seed, 5))
    taken = random.permutation(total)[:record_count]
    is_taken = numpy.zeros(total, dtype=bool)
    is_taken[taken] = True
    queries, targets = numpy.concatenate(queries), numpy.concatenate(targets)
    hits = random.permutation(numpy.flatnonzero(is_taken[targets]))[:hit_count]
    records = numpy.concatenate(made)[taken]
    return records, numpy.concatenate((queries[hits], maker.new_pictures(query_count - len(hits))))


def write(path, hashes):
    """Each word's bytes in turn, the least significant first."""
    hashes.reshape(-1, 4, 8)[:, :, ::-1].tofile(path)


def write_hex(path, hashes):
    with open(path, "w", encoding="ascii") as out:
        for begin in range(0, len(hashes), 100000):
            text = hashes[begin:begin + 100000].tobytes().hex()
            out.writelines(text[i:i + 64] + "\n" for i in range(0, len(text), 64))


# ----- how near the model is -----

QUANTILES = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99)


def distances(hashes, groups):
    """How many pairs of different groups have each distance."""
    signs = bits_of(hashes).astype(numpy.float32) * 2 - 1
    counts = numpy.zeros(BITS + 1, dtype=numpy.int64)
    for begin in range(0, len(signs), 1000):
        of_pair = ((BITS - signs[begin:begin + 1000] @ signs.T) / 2).astype(numpy.int16)
        counts += numpy.bincount(of_pair[groups[begin:begin + 1000, None] != groups], minlength=BITS + 1)
    return counts


def equal_parts(hashes, groups, bits):
    """How often pairs of different groups agree in `bits` adjacent bits, times 2^bits: the mean, and the range."""
    all_bits, found = bits_of(hashes), []
    counts = numpy.unique(groups, return_counts=True)[1]
    pairs = len(hashes) ** 2 - (counts.astype(float) ** 2).sum()
    for begin in range(0, BITS - bits + 1, bits):
        keys = all_bits[:, begin:begin + bits].astype(numpy.int64) @ (1 << numpy.arange(bits))
        same = (numpy.unique(keys, return_counts=True)[1].astype(float) ** 2).sum()
        within = (numpy.unique(keys << 20 | groups, return_counts=True)[1].astype(float) ** 2).sum()
        found.append((same - within) / pairs * 2**bits)
    return f"{numpy.mean(found):.2f} ({min(found):.2f} to {max(found):.2f})"


def print_pairs(name, hashes, groups):
    counts = distances(hashes, groups)
    shares = counts.cumsum() / counts.sum()
    quantiles = " ".join(f"{numpy.searchsorted(shares, quantile):5}" for quantile in QUANTILES)
    parts = ", ".join(equal_parts(hashes, groups, bits) for bits in (16, 24))
    print(f"{name:28} {len(hashes):7} {quantiles}  {shares[QUERY_FLIPS]:8.1e} {parts}")


def gaussian(random, hashes):
    """As many from a Gaussian model with the correlations of these hashes' bits: it is what the model is not."""
    signs = bits_of(hashes).astype(numpy.float32) * 2 - 1
    values, vectors = numpy.linalg.eigh(numpy.sin(numpy.pi / 2 * (signs.T @ signs / len(signs))))
    root = vectors * numpy.sqrt(values.clip(0))
    return hashes_of(random.standard_normal(signs.shape) @ root.T + signs.mean(axis=0) * numpy.sqrt(numpy.pi / 2))


def apart(random, hashes, least):
    """Indexes of hashes in random order, each at least so far from all before it."""
    signs = bits_of(hashes).astype(numpy.float32) * 2 - 1
    order, kept = random.permutation(len(hashes)), numpy.zeros(0, dtype=int)
    for begin in range(0, len(order), 1000):
        some = order[begin:begin + 1000]
        if len(kept) > 0:
            some = some[(signs[some] @ signs[kept].T).max(axis=1) <= BITS - 2 * least]
        near = numpy.tril(signs[some] @ signs[some].T > BITS - 2 * least, -1)
        kept = numpy.concatenate((kept, some[~near.any(axis=1)]))
    return kept


def report_real(real):
    counts = numpy.unique(real.hashes, axis=0, return_counts=True)[1]
    quality = real.qualities >= GOOD_QUALITY
    ones = bits_of(real.hashes).sum(axis=1)
    print(f"# {len(real.names)} pictures of {len(numpy.unique(real.packages))} packages: {len(counts)} different "
          f"hashes, the most frequent {counts.max()} times; quality of at least {GOOD_QUALITY}: {quality.mean():.3f} "
          f"of the pictures, {len(real.good())} different hashes; 128 ones: {(ones == ONES).mean():.3f}")
    print("\nflips by altering      mean    5 %   25 %   50 %   75 %   95 %   at most 31")
    counts = (bits_of(real.copies) != bits_of(real.hashes[real.edited])[:, None]).sum(axis=2)
    for name, of_edit in zip((*real.edits, "all"), (*counts.T, counts.ravel())):
        quantiles = " ".join(f"{value:6.0f}" for value in numpy.quantile(of_edit, (0.05, 0.25, 0.5, 0.75, 0.95)))
        print(f"{name:28} {of_edit.mean():6.1f} {quantiles} {(of_edit <= QUERY_FLIPS).mean():6.3f}")


def report_pairs(real, maker):
    random = numpy.random.default_rng((maker.seed, 6))
    print("\n# pairs of hashes of different groups: quantiles of their distances; share at most 31 apart; how often\n"
          "# they agree in 16 and 24 adjacent bits, over random hashes (mean and range of the parts of a hash).\n"
          f"# Real: of good quality, and each at least {BITS // 4} from those before it")
    print(f"{'':28} {'hashes':>7} {' '.join(f'{quantile:5g}' for quantile in QUANTILES)}")
    good = real.good()
    kept = good[apart(random, real.hashes[good], BITS // 4)]
    groups = numpy.unique(real.packages, return_inverse=True)[1]
    print_pairs("real, other packages", real.hashes[kept], groups[kept])
    print_pairs("their whole small pictures", hashes_of(maker.windows.whole[kept]), groups[kept])
    windows = [maker.windows.draw(random, i, 1) for i in kept]
    made = numpy.concatenate(windows)
    of_made = groups[kept[[len(window) > 0 for window in windows]]]
    print_pairs("windows, other packages", hashes_of(made), of_made)
    some = [maker.windows.draw(random, i, 100) for i in random.choice(kept, 250, replace=False)]
    of_some = numpy.repeat(numpy.arange(len(some)), [len(of) for of in some])
    print_pairs("windows, other pictures", hashes_of(numpy.concatenate(some)), of_some)
    print_pairs("Gaussian", gaussian(random, real.hashes[kept]), numpy.arange(len(kept)))
    print_pairs("random", random.integers(0, 256, (len(kept), 32), dtype=numpy.uint8), numpy.arange(len(kept)))
    within = numpy.zeros(BITS + 1)
    for of in some:
        within += distances(hashes_of(of), numpy.arange(len(of)))
    shares = within.cumsum() / within.sum()
    print(f"# two windows of one picture: at most {QUERY_FLIPS} apart {shares[QUERY_FLIPS]:.2e}, median "
          f"{numpy.searchsorted(shares, 0.5)}")


def report_flips(real, maker):
    """Made copies of the pictures that were altered, beside the altered ones."""
    random = numpy.random.default_rng((maker.seed, 7))
    original, ranks = real.hashes[real.edited], ranks_of(real.coefficients[real.edited])
    full = bits_of(original).sum(axis=1) == ONES
    print("\n# of the flipped bits, how many are among the 8, 16, 32, 64, 128 nearest to the median; how often two\n"
          "# copies of a picture flip the same bit (share of the smaller number of flips)")
    for low, high in ((2, 8), (10, 16), (18, 31), (32, 64)):
        for name, copies in (("altered", real.copies), ("made", None)):
            if copies is None:
                counts = maker.flips.draw_counts(random, real.copies.shape[:2])
                copies = numpy.array([maker.flips.apply(random, original[full], ranks[full], of[full])
                                      for of in counts.T]).transpose(1, 0, 2)
                flipped = bits_of(copies) != bits_of(original[full])[:, None]
                of_rank = ranks[full]
            else:
                flipped, of_rank = bits_of(copies) != bits_of(original)[:, None], ranks
            counts = flipped.sum(axis=2)
            picture, edit = numpy.nonzero((counts >= low) & (counts <= high))
            by_rank = numpy.bincount(of_rank[picture].ravel(), flipped[picture, edit].ravel(), BITS)
            shares = " ".join(f"{by_rank[:first].sum() / by_rank.sum():.3f}" for first in (8, 16, 32, 64, 128))
            pair = numpy.flatnonzero(picture[1:] == picture[:-1])
            one, other = (flipped[picture[pair + i], edit[pair + i]] for i in (0, 1))
            fewer = numpy.minimum(one.sum(axis=1), other.sum(axis=1))
            print(f"{name:8} {low:3} to {high:2} flips: {len(picture):6} copies  {shares}  both "
                  f"{((one & other).sum(axis=1) / fewer).mean():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", metavar="WORK")
    parser.add_argument("--records", type=int, default=10_000_000, help="how many hashes (%(default)s)")
    parser.add_argument("--out", metavar="FILE", help="for the hashes")
    parser.add_argument("--hex", metavar="FILE", help="for the hashes as text, 64 hex digits a line")
    parser.add_argument("--queries", metavar="FILE", help="for the queries")
    parser.add_argument("--query-count", type=int, default=20_000, help="half of them copies of records (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    real = Real(options.work)
    maker = Maker(real, options.seed)
    if not (options.out or options.hex):
        report_real(real)
        report_pairs(real, maker)
        report_flips(real, maker)
        return
    records, queries = make(maker, options.records, options.query_count)
    if options.out:
        write(options.out, records)
    if options.hex:
        write_hex(options.hex, records)
    if options.queries:
        write(options.queries, queries)
    print(f"# {len(records)} hashes, {len(queries)} queries, seed {options.seed}")


if __name__ == "__main__":
    main()
