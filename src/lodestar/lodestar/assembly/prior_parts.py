"""Makes the priors of categories."""

from __future__ import annotations

from pathlib import Path

from lodestar.scene.category_priors import BadPriors, CategoryPriors


def category_priors(file: str | Path = "") -> CategoryPriors:
    """Return the table joined with the counts of a file, if there is one. Raises BadPriors, also for one that cannot be
    read.

    file: "" = the table alone; "~" is the home folder.
    """
    path = Path(file).expanduser()
    try:
        return CategoryPriors.load(path) if str(file) and path.exists() else CategoryPriors()
    except OSError as error:
        raise BadPriors(f"the file of counts cannot be read: {error}") from error
