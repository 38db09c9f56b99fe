"""Put the sources of LMDB and of xxHash into a folder: fetch.py FOLDER

They are parts of the source releases of two Python packages, which pip fetches from wherever it is set up to.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

# The package, its version, the SHA-256 of its source release, and the files of it; by another name here if given.
RELEASES = (
    (
        "lmdb",
        "1.6.2",
        "d28e3fa59935ff688858760ec52f202ecb8c1089a3f68d1f162ea3078d151e73",
        {"lib/mdb.c": "", "lib/midl.c": "", "lib/midl.h": "", "lib/lmdb.h": "", "LICENSE": "LICENSE.lmdb"},
    ),
    (
        "xxhash",
        "3.5.0",
        "84f2caddf951c9cbf8dc2e22a89d4ccf5d86391ac6418fe81e3c67d0cf60b45f",
        {"deps/xxhash/xxhash.h": "", "deps/xxhash/LICENSE": "LICENSE.xxhash"},
    ),
)
PIP = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
# Variables of the build that this is a part of; pip would take them for its own.
OUTER = ("_PYPROJECT_HOOKS_", "PEP517_")


def fetch(name: str, version: str, digest: str, files: "dict[str, str]", folder: pathlib.Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(OUTER)}
    with tempfile.TemporaryDirectory() as scratch:
        wanted = pathlib.Path(scratch, "wanted.txt")
        wanted.write_text(f"{name}=={version} --hash=sha256:{digest}\n", encoding="utf-8")
        subprocess.run(
            [*PIP, "--no-binary", name, "--require-hashes", "--dest", scratch, "-r", str(wanted)],
            check=True,
            env=environment,
            stdout=sys.stderr,
        )
        [archive] = pathlib.Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as tar:
            for file, own_name in files.items():
                source = tar.extractfile(f"{name}-{version}/{file}")
                assert source is not None
                with source, open(folder / (own_name or pathlib.PurePath(file).name), "wb") as target:
                    shutil.copyfileobj(source, target)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, version, digest, files in RELEASES:
        if not all((folder / (own or pathlib.PurePath(file).name)).exists() for file, own in files.items()):
            fetch(name, version, digest, files, folder)


if __name__ == "__main__":
    main()
