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

# The files of a release, and what they are called here, if otherwise.
RELEASES = (
    (
        "lmdb",
        "1.6.2",
        {"lib/mdb.c": "", "lib/midl.c": "", "lib/midl.h": "", "lib/lmdb.h": "", "LICENSE": "LICENSE.lmdb"},
    ),
    ("xxhash", "3.5.0", {"deps/xxhash/xxhash.h": "", "deps/xxhash/LICENSE": "LICENSE.xxhash"}),
)


# Of the build that this is a part of; pip would take them for its own.
OUTER = ("_PYPROJECT_HOOKS_", "PEP517_")


def fetch(name: str, version: str, files: "dict[str, str]", folder: pathlib.Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(OUTER)}
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
                "--no-binary",
                name,
                "--dest",
                scratch,
                f"{name}=={version}",
            ],
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
    for name, version, files in RELEASES:
        if not all((folder / (own or pathlib.PurePath(file).name)).exists() for file, own in files.items()):
            fetch(name, version, files, folder)


if __name__ == "__main__":
    main()
