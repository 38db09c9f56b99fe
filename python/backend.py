"""The build backend: scikit-build-core, and before it a copy of the C sources into core/, so that an sdist has them."""

import pathlib
import shutil

from scikit_build_core import build as _backend
from scikit_build_core.build import *  # noqa: F403

HERE = pathlib.Path(__file__).resolve().parent
# What CMake reads to build the library and the command.
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "libstore", "tools")


def _copy_core():
    root = HERE.parent
    if not (root / "libstore" / "include" / "sstore.h").exists():
        return  # an unpacked sdist: core/ is there
    core = HERE / "core"
    shutil.rmtree(core, ignore_errors=True)
    core.mkdir()
    for part in PARTS:
        copy = shutil.copytree if (root / part).is_dir() else shutil.copy2
        copy(root / part, core / part)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _copy_core()
    return _backend.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    _copy_core()
    return _backend.build_sdist(sdist_directory, config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    _copy_core()  # the version is in the header
    return _backend.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _copy_core()
    return _backend.build_editable(wheel_directory, config_settings, metadata_directory)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    _copy_core()
    return _backend.prepare_metadata_for_build_editable(metadata_directory, config_settings)
