"""Lines on the screen: sentences, wrapped to the terminal, and a progress line that is rewritten in place."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from typing import TextIO

_INTERVAL = 0.2  # s between updates of the progress line
_NO_TERMINAL = 100  # columns where stdout is a file or a pipe


class ProgressLine:
    """Prints sentences; on a terminal, it also shows the newest progress below them.

    gone: whether the terminal or pipe was closed; nothing is printed then.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        in_place: bool | None = None,
    ) -> None:
        self._stream = stream or sys.stdout
        self._clock = clock
        self.gone = False
        self._in_place = self._stream.isatty() if in_place is None else in_place
        self._shown_at = -float("inf")
        self._clear = ""  # removes the progress from its line

    @property
    def columns(self) -> int:
        """Return the width of a line, characters."""
        return max(20, shutil.get_terminal_size().columns - 1) if self._in_place else _NO_TERMINAL

    def show(self, text: str) -> None:
        """Show the text in place, unless another was shown within the interval."""
        if self._in_place and self._clock() - self._shown_at >= _INTERVAL:
            self._shown_at = self._clock()
            self._clear = "\r\x1b[2K"
            self._write(self._clear + shortened(text, self.columns))

    def note(self, text: str, indent: int = 2) -> None:
        """Print the text; further lines of a long one are indented. Paths and links are never broken."""
        lines = textwrap.wrap(
            text, self.columns, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
        )
        self._write(self._clear + "\n".join(lines) + "\n")
        self._clear = ""

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self.gone, self._stream = True, open(os.devnull, "w")  # noqa: SIM115 - until the program ends


def shortened(text: str, columns: int) -> str:
    """Return the text in at most `columns` characters; a text that is cut ends in "…"."""
    return text if len(text) <= columns else f"{text[: columns - 1].rstrip()}…"
