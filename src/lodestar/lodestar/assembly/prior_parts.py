"""Makes the priors of categories."""

from __future__ import annotations

from pathlib import Path

from lodestar.scene.category_priors import CategoryPriors


def category_priors(file: str | Path = "") -> CategoryPriors:
    """Return the table joined with the counts of a file, if there is one. Raises BadPriors, OSError.

    file: "" = the table alone; "~" is the home folder.
    """
    path = Path(file).expanduser()
    return CategoryPriors.load(path) if str(file) and path.exists() else CategoryPriors()
