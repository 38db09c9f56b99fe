"""The reasons to refuse a store that sstore-format.md, section 12, distinguishes."""


class Fault(Exception):
    """A reason to refuse a store. `file` is a path inside it, `offset` a byte of that file. Both may be None."""

    word = "fault"

    def __init__(self, reason: str, file: str | None = None, offset: int | None = None):
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.offset = offset

    def within(self, file: str, offset: int = 0) -> "Fault":
        """Say that the fault is in the part of `file` that begins at `offset`."""
        if self.file is None:
            self.file = file
            self.offset = offset + (self.offset or 0)
        return self

    def __str__(self) -> str:
        place = [] if self.file is None else [self.file]
        if self.offset is not None:
            place.append(f"offset {self.offset}")
        return ": ".join([self.word, *place, self.reason])


class Damaged(Fault):
    """The user needs a copy of the store."""

    word = "damaged"


class Unsupported(Fault):
    """The user needs a newer reader."""

    word = "unsupported"


class NoStore(Fault):
    """There is no manifest, or no such folder."""

    word = "no store"
