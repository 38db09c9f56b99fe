"""The build backend: scikit-build-core. While it runs, a copy of the C sources is in core/, so that an sdist has them.

A build leaves nothing in the folder of the sources.
"""

import contextlib
import fcntl
import importlib.util
import pathlib
import shutil

from scikit_build_core import build as _backend
from scikit_build_core.build import *  # noqa: F403

HERE = pathlib.Path(__file__).resolve().parent
# What CMake reads to build the library and the command.
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "libstore", "tools")


def _forget_bytecode():
    """Remove what Python has just kept of this file."""
    cached = pathlib.Path(importlib.util.cache_from_source(__file__))
    with contextlib.suppress(OSError):
        cached.unlink()
        cached.parent.rmdir()  # only if it is empty


_forget_bytecode()


@contextlib.contextmanager
def _core():
    """Copy the C sources, for as long as this lasts. In an unpacked sdist they are there."""
    root, core = HERE.parent, HERE / "core"
    if not (root / "libstore" / "include" / "sstore.h").exists():
        yield
        return
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another build of this tree has its own copy there
        shutil.rmtree(core, ignore_errors=True)
        try:
            core.mkdir()
            for part in PARTS:
                copy = shutil.copytree if (root / part).is_dir() else shutil.copy2
                copy(root / part, core / part)
            yield
        finally:
            shutil.rmtree(core, ignore_errors=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _core():
        return _backend.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    with _core():
        return _backend.build_sdist(sdist_directory, config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    with _core():  # the version is in the header
        return _backend.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with _core():
        return _backend.build_editable(wheel_directory, config_settings, metadata_directory)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    with _core():
        return _backend.prepare_metadata_for_build_editable(metadata_directory, config_settings)
