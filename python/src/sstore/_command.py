"""The sstore command, which the package contains."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Become the command."""
    command = pathlib.Path(__file__).parent / "bin" / "sstore"
    os.execv(command, ["sstore", *sys.argv[1:]])
