"""Tables of a chart's grammar, kept in the user's cache: they take seconds to build, and depend on the rules alone."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import parglare
from parglare import GLRParser, Grammar

from lodestar.storage.private import cache_folder

KEPT = 8  # files of one entry: of as many versions of its rules
_log = logging.getLogger(__name__)


def parser_of(
    name: str, text: str, grammar: Grammar, tokens: Callable[[Any, Any], list], folder: Path | None = None
) -> GLRParser:
    """A parser of the grammar whose rules `text` are. name: of its entry, in the file's name.

    A file that is damaged is built anew. Where nothing can be written, the tables are built each time.
    """
    version = getattr(parglare, "__version__", "")
    key = hashlib.sha256(f"{version}\n{text}".encode()).hexdigest()[:24]
    try:
        path = (folder or cache_folder("charts")) / f"{name}-{key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        parser = GLRParser(grammar, ws=None, custom_token_recognition=tokens, table_cache=path)
    except (OSError, RuntimeError) as error:  # no home, or a disk that is full or read-only
        _log.info("the tables of %s are not kept: %s", name, error.__class__.__name__)
        return GLRParser(grammar, ws=None, custom_token_recognition=tokens, table_cache=False)
    if is_new:
        with contextlib.suppress(OSError):
            for old in sorted(path.parent.glob(f"{name}-*.json"), key=os.path.getmtime)[:-KEPT]:
                old.unlink()
    return parser
