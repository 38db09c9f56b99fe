"""What the sides of compare.py in Python share: fingerprints as bytes, and memory as it is counted for all sides."""
import numpy


def read_codes(path, bits):
    """The bytes of a fingerprint are in another order than its bits; a peer need not know."""
    return numpy.fromfile(path, dtype=numpy.uint8).reshape(-1, bits // 8)


def resident_bytes():
    """RssAnon + RssFile."""
    with open("/proc/self/status", encoding="ascii") as status:
        lines = dict(line.split(":", 1) for line in status)
    return sum(int(lines[name].split()[0]) * 1024 for name in ("RssAnon", "RssFile"))
