"""One line of progress, replaced in place on a terminal and repeated every few seconds elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

_IN_PLACE_INTERVAL = 0.2  # s
_LINE_INTERVAL = 5.0  # s


class ProgressLine:
    """Show the newest text, not more often than a person reads."""

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        in_place: bool | None = None,
    ) -> None:
        self._stream = stream or sys.stdout
        self._clock = clock
        self._in_place = self._stream.isatty() if in_place is None else in_place
        self._shown_at = -float("inf")
        self._open = False

    def show(self, text: str) -> None:
        """Show the text on the line, unless another was shown just now."""
        interval = _IN_PLACE_INTERVAL if self._in_place else _LINE_INTERVAL
        if self._clock() - self._shown_at < interval:
            return
        self._shown_at = self._clock()
        if self._in_place:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\x1b[2K" + text[:width])
            self._open = True
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def note(self, text: str) -> None:
        """Print the text on a line of its own."""
        if self._open:
            self._stream.write("\r\x1b[2K")
            self._open = False
        self._stream.write(text + "\n")
        self._stream.flush()
