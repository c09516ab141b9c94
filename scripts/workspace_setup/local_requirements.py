"""Replacement of packages pinned in requirements/ by this computer's own. Standard library only."""

from __future__ import annotations

import re
from pathlib import Path


def without_replaced(files: list[Path], local: Path, folder: Path) -> list[Path]:
    """Return the requirements files without the packages that `local` lists, which replaces them.

    For example, a Jetson needs NVIDIA's build of torch, whose version differs from the pinned one.
    folder: receives the shortened copies of the files.
    """
    if local not in files:
        return files
    own = {name_of(line) for line in local.read_text().splitlines()} - {""}
    folder.mkdir(parents=True, exist_ok=True)
    kept = [local]
    for path in files:
        if path != local:
            lines = [line for line in path.read_text().splitlines() if name_of(line) not in own]
            (folder / path.name).write_text("\n".join(lines) + "\n")
            kept.insert(-1, folder / path.name)
    return kept


def name_of(line: str) -> str:
    """Return the package that a line of a requirements file names; "" for a comment or an option."""
    found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", line)
    return re.sub(r"[-_.]+", "-", found[1]).lower() if found else ""
