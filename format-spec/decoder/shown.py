"""Text as the command prints it, for the tests."""

from pathlib import Path

import store

# Characters that sstore_escape() does not show.
HIDDEN = {*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF}


def name_text(name: bytes) -> str:
    """A name, escaped."""
    shown = []
    for character in name.decode("utf-8", "surrogateescape"):
        code = ord(character)
        if code in HIDDEN or 0xDC80 <= code <= 0xDCFF:
            shown += [f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape")]
        else:
            shown.append("\\\\" if character == "\\" else character)
    return "".join(shown)


def with_names(path: Path, lines: str) -> str:
    """Lines that end with ids: if the store has names, with these in their place."""
    names = store.names(str(path))
    if not names:
        return lines
    split = (line.rsplit("\t", 1) for line in lines.splitlines())
    return "".join(f"{head}\t{name_text(names[int(number)])}\n" for head, number in split)
