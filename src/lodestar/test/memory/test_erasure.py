"""Tests of erasing copies that SQLite leaves when it moves rows; killed owners: see `lodestar_eval.erasure_trial`."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from lodestar.memory.database import Database

FOUND = re.compile(rb"SECRET-[0-9.e-]+\.")


def on_disk(folder: Path) -> set[str]:
    found: set[str] = set()
    for path in folder.rglob("*"):
        try:
            found |= {text.decode() for text in FOUND.findall(path.read_bytes())} if path.is_file() else set()
        except FileNotFoundError:  # replaced by the store during the search
            continue
    return found


@pytest.mark.parametrize("seed", range(4))
def test_copies_that_sqlite_leaves_where_it_moved_a_row_are_erased_too(tmp_path, seed):
    """Inserts and deletes of texts of any length rebalance pages; `secure_delete` alone leaves some texts."""
    rng, database, live = random.Random(seed), Database(tmp_path), dict[int, str]()
    with database.write() as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
    for step in range(200):
        with database.write() as connection:
            if rng.random() < 0.5:
                for number in range(40 * step, 40 * step + rng.randrange(40)):
                    live[number] = f"SECRET-{number}."
                    text = live[number] + " x" * rng.randrange(rng.choice((30, 300, 1500))) + live[number]
                    connection.execute("INSERT INTO t VALUES (?, ?)", (number, text))
            for number in rng.sample(sorted(live), min(len(live), rng.choice((0, 5, 60)))):
                connection.execute("DELETE FROM t WHERE id = ?", (number,))
                del live[number]
        if step % 10 == 0:
            database.erase()
            assert on_disk(tmp_path) == set(live.values())
    with database.read() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    assert on_disk(tmp_path) == set(live.values())
