"""Cache of parser tables in the user's cache folder: they take seconds to build and depend on the rules
alone.
"""

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

KEPT = 8  # cache files kept for one entry block, one for each version of its rules
_log = logging.getLogger(__name__)


def parser_of(
    name: str, text: str, grammar: Grammar, tokens: Callable[[Any, Any], list], folder: Path | None = None
) -> GLRParser:
    """Return a GLR parser for the grammar. text: its rules, the cache key. name: its start symbol, part of
    the cache file's name.

    A damaged cache file is rebuilt. If the cache cannot be written, the tables are built each time.
    """
    version = getattr(parglare, "__version__", "")
    key = hashlib.sha256(f"{version}\n{text}".encode()).hexdigest()[:24]
    try:
        path = (folder or cache_folder("charts")) / f"{name}-{key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        parser = GLRParser(grammar, ws=None, custom_token_recognition=tokens, table_cache=path)
    except (OSError, RuntimeError) as error:  # no home folder, or the disk is full or read-only
        _log.info("the tables of %s are not kept: %s", name, error.__class__.__name__)
        return GLRParser(grammar, ws=None, custom_token_recognition=tokens, table_cache=False)
    if is_new:
        with contextlib.suppress(OSError):
            for old in sorted(path.parent.glob(f"{name}-*.json"), key=os.path.getmtime)[:-KEPT]:
                old.unlink()
    return parser
