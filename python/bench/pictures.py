#!/usr/bin/env python3
"""Counts how many bits of imagehash's 256-bit perceptual hashes change when pictures are edited.

    pictures.py FOLDER...

Reads all pictures of at least 64 by 64 pixels in the folders. Needs Pillow and ImageHash.
"""

import argparse
import io
import pathlib
from collections.abc import Iterator

import imagehash
from PIL import Image, ImageEnhance


def pictures_of(folders: list[pathlib.Path]) -> Iterator[Image.Image]:
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.suffix.lower() in (".png", ".jpg", ".jpeg", ".webp"):
            try:
                picture = Image.open(path).convert("RGB")
            except OSError:
                continue
            if min(picture.size) >= 64:
                yield picture


def smaller(picture: Image.Image) -> Image.Image:
    file = io.BytesIO()
    picture.resize((picture.width // 3, picture.height // 3)).save(file, "JPEG", quality=50)
    return Image.open(file)


def cropped(picture: Image.Image) -> Image.Image:
    width, height = picture.size
    return picture.crop((width // 50, height // 50, width - width // 50, height - height // 50))


EDITS = {
    "a third of the size, JPEG of quality 50": smaller,
    "1.2 times the brightness": lambda picture: ImageEnhance.Brightness(picture).enhance(1.2),
    "2 % less at each side": cropped,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=pathlib.Path, nargs="+", metavar="FOLDER")
    pictures = list(pictures_of(parser.parse_args().folders))
    before = [imagehash.phash(picture, hash_size=16) for picture in pictures]
    print(f"{len(pictures)} pictures")
    for name, edit in EDITS.items():
        bits = [int(imagehash.phash(edit(picture), hash_size=16) - old) for picture, old in zip(pictures, before)]
        shares = ", ".join(f"{sum(bit <= k for bit in bits) / len(bits):.0%} within {k}" for k in (3, 16, 31))
        print(f"{name}: {shares}")


if __name__ == "__main__":
    main()
