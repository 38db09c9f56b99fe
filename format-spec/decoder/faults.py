"""What can be wrong with a store, as sstore-format.md, section 12, tells it apart."""


class Fault(Exception):
    """A reason to refuse a store. `file` is a path inside it, `offset` one in bytes in that file, where there is one."""

    word = "fault"

    def __init__(self, reason: str, file: str | None = None, offset: int | None = None):
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.offset = offset

    def within(self, file: str, offset: int = 0) -> "Fault":
        """The same fault, found in a piece of `file` that begins at `offset`."""
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
    """Calls for a copy of the store."""

    word = "damaged"


class Unsupported(Fault):
    """Calls for a newer reader."""

    word = "unsupported"


class NoStore(Fault):
    """There is no manifest, or no such folder."""

    word = "no store"
