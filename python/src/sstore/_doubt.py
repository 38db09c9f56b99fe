"""Rows that cannot be read, and input that may mean something else: errors, reports and warnings."""

from __future__ import annotations

import sys
import warnings
from typing import NamedTuple, Optional, Union


class DoubtWarning(UserWarning):
    """Input was taken as documented, but probably means something else. The text names the sign and the remedy.

    warnings.simplefilter("error", sstore.DoubtWarning) makes an error of it, "ignore" silences it.
    """


class SkippedWarning(UserWarning):
    """Rows were skipped by skip_bad=True. A BadRows tells which, without a warning."""


for _kind in (DoubtWarning, SkippedWarning):
    _kind.__module__ = "sstore"


def warn(message: str, category: type[Warning]) -> None:
    """Warn of the line that called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "sstore":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class BadRow(NamedTuple):
    """A row that was skipped: its number, from 0, in the input of its call, or None on a cluster; and why it cannot be
    read."""

    row: Optional[int]
    reason: str


class BadRows:
    """The rows that calls skipped, because they cannot be read.

        bad = sstore.BadRows(max_bad=1000)
        sstore.build("docs.store", fingerprints, skip_bad=bad)
        print(bad.count, bad.rows)

    Several calls may share one.

    Args:
        max_bad: fail if more rows are bad; None: any number.
        keep: of this many bad rows, the first ones, number and reason are kept.

    Attributes:
        count: the number of bad rows.
        rows: the first of them, as BadRow: row and reason.
    """

    def __init__(self, max_bad: Optional[int] = None, *, keep: int = 100) -> None:
        self.max_bad = max_bad
        self.keep = keep
        self.count = 0
        self.rows: list[BadRow] = []
        self._warns = False

    def has_room(self, count: int) -> bool:
        """Whether this many more rows may be bad."""
        return self.max_bad is None or self.count + count <= self.max_bad

    def hint(self) -> str:
        """The end of the error about the first bad row for which there is no room: the limit, or how to skip rows."""
        if self.max_bad:
            rows = "row" if self.max_bad == 1 else "rows"
            return f"; more than the {self.max_bad} {rows} that max_bad allows cannot be read"
        return "; skip_bad=True skips such rows"

    def add(self, row: Optional[int], reason: str) -> None:
        """Count a bad row."""
        if len(self.rows) < self.keep:
            self.rows.append(BadRow(row, reason))
        self.count += 1

    def __repr__(self) -> str:
        return f"<sstore.BadRows: {self.count}{self._first()}>"

    def _first(self) -> str:
        if not self.rows:
            return ""
        row, reason = self.rows[0]
        return f"; the first: {'' if row is None else f'row {row}: '}{reason}"

    def tell(self) -> None:
        """At the end of a call with skip_bad=True, warn of the rows."""
        if self._warns and self.count > 0:
            warn(f"{self.count} bad rows were skipped{self._first()}", SkippedWarning)


SkipBad = Union[bool, BadRows]


def bad_rows_of(skip_bad: SkipBad) -> BadRows:
    """The report of a call, in which no row may be bad by default."""
    if isinstance(skip_bad, BadRows):
        return skip_bad
    if not isinstance(skip_bad, bool):
        raise TypeError(f"skip_bad: expected bool or BadRows, found {type(skip_bad).__name__}")
    made = BadRows(None if skip_bad else 0)
    made._warns = True
    return made
