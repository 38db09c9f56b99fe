"""Find near-duplicate images below a folder: image_folder.py FOLDER [--size 8] [--distance K] [--store images.store]

A size of 16 makes hashes of 256 bits, which tell more images apart; 31 is a usual distance for them. Replaces the
store. Prints groups of paths, separated by empty lines. Needs imagehash and Pillow.
"""

import argparse
import functools
import pathlib
from concurrent.futures import ProcessPoolExecutor
from typing import Optional

import imagehash
from PIL import Image

import sstore

SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tiff"}


def fingerprint(path: pathlib.Path, size: int) -> Optional[imagehash.ImageHash]:
    """The perceptual hash of an image, size * size bits; None if it cannot be read."""
    try:
        with Image.open(path) as image:
            return imagehash.phash(image, hash_size=size)
    except OSError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", type=int, choices=(8, 16), default=8)
    parser.add_argument("--distance", type=int, help="6 of 64 bits or 31 of 256, if left out")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("images.store"))
    given = parser.parse_args()
    if given.distance is None:
        given.distance = 6 if given.size == 8 else 31
    if not given.folder.is_dir():
        parser.error(f"{given.folder}: there is no such folder")
    paths = sorted(path for path in given.folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(functools.partial(fingerprint, size=given.size), paths, chunksize=32))
    ids = [i for i, value in enumerate(found) if value is not None]
    values = [value for value in found if value is not None]
    recipe, bits = f"imagehash phash {given.size}x{given.size}", given.size * given.size
    sstore.build(given.store, values, ids, bits=bits, distance=given.distance, recipe=recipe, force=True)
    with sstore.open(given.store) as store:
        clusters = store.clusters()
    for i, id_ in enumerate(clusters.id.tolist()):
        if i > 0 and clusters.is_representative[i]:
            print()
        print(paths[id_])


if __name__ == "__main__":
    main()
