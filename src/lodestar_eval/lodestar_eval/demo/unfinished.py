"""The page of a run that has not ended, and the files of a run before it."""

from __future__ import annotations

from pathlib import Path

PAGE = "report.md"
#: Files of a run in its folder.
_FILES = (
    PAGE, "summary.json", "decisions.jsonl", "map.png", "arrival.png", "arrival_*.png", "world.json", "log/*.log",
)  # fmt: skip


def begin_report(folder: Path, directive: str) -> None:
    """Remove an earlier run's files from `folder`, and write a page that this run has not ended.

    Only files that a demo writes are removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in _FILES:
        for file in folder.glob(pattern):
            file.unlink()
    write_unfinished(
        folder, directive, "It still runs, or it was ended from outside before it could say more."
    )


def write_unfinished(folder: Path, directive: str, reason: str) -> Path:
    """Write a page that the run did not end by itself, with the reason."""
    page = folder / PAGE
    lines = [f"# Not finished: “{directive}”", "", reason, "", "What the nodes wrote is in [log](log).", ""]
    page.write_text("\n".join(lines), encoding="utf-8")
    return page
