"""Placeholder report of a run that has not ended, removal of an earlier run's files, and a log of libraries."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

PAGE = "report.md"
#: Files that a run writes to its folder.
_FILES = (
    PAGE, "summary.json", "decisions.jsonl", "map.png", "run.gif", "arrival*.png", "world.json", "log/*.log",
)  # fmt: skip


def begin_report(folder: Path, directive: str) -> None:
    """Remove an earlier run's files from `folder`, and write a page saying that this run has not ended.

    Only files that a demo writes are removed.
    """
    (folder / "log").mkdir(parents=True, exist_ok=True)
    for pattern in _FILES:
        for file in folder.glob(pattern):
            file.unlink()
    write_unfinished(
        folder, directive, "It still runs, or it was ended from outside before it could say more."
    )


def write_unfinished(folder: Path, directive: str, reason: str) -> Path:
    """Write a page with the reason for which the run did not end by itself; return its path."""
    page = folder / PAGE
    logs = "What the nodes wrote is in [log](log). Next: `make demo` again."
    lines = [f"# Not finished: “{directive}”", reason, "There is no map, as the search had not begun.", logs]
    page.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return page


@contextlib.contextmanager
def quiet(log: TextIO) -> Iterator[None]:
    """Redirect stderr to `log` within the block, including output of C libraries, such as ROS warnings."""
    sys.stderr.flush()
    screen = os.dup(2)
    try:
        with log, contextlib.redirect_stderr(log):
            os.dup2(log.fileno(), 2)
            yield
    finally:
        sys.stderr.flush()
        os.dup2(screen, 2)
        os.close(screen)
