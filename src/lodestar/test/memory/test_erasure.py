"""Tests of erasure: after `forget` no file holds the text, in random orders of work and after a kill of the owner."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lodestar.memory.database import Database

OWNER = """
import random, sys
sys.path.insert(0, sys.argv[2])
import memory_fakes as fakes
from dataclasses import replace
from lodestar.memory.config import StoreConfig
from lodestar.memory.store import MemoryStore

rng = random.Random(int(sys.argv[3]))
config = StoreConfig(
    folder=sys.argv[1], dimension=fakes.DIMENSION, flush_interval=0.01, sync_interval=0.02, backend=sys.argv[4],
    max_records=400, full_time=100.0, long_time=200.0,
)
def new():
    return MemoryStore.open(config, fakes.embed, on_erased=lambda images: None)
store, step = new(), 0
print("open", flush=True)
while True:
    step += 1
    deed = rng.choice(("add", "add", "add", "forget", "correct", "flush", "pin", "again"))
    there = store.identities()
    if deed == "add":
        for _ in range(rng.randrange(40)):
            secret = f"SECRET-{sys.argv[3]}-{step}-{rng.random()}."
            text = secret + " x" * rng.randrange(1500) + secret
            store.add(fakes.memory(text, float(step), things=range(rng.randrange(5)), facts={"what": secret}))
    elif deed == "forget" and there:
        chosen = rng.sample(there, min(len(there), rng.choice((1, 5, 60))))
        gone = [store.get(i).facts.get("what", "") for i in chosen]
        store.forget(chosen)
        print("gone", *gone, flush=True)
    elif deed == "correct" and there:
        store.correct(rng.choice(there), f"SECRET-{sys.argv[3]}-{step}-{rng.random()}. no, it was another")
    elif deed == "flush":
        store.flush(rng.random())
    elif deed == "pin" and there:
        store.pin(rng.choice(there), rng.random() < 0.5)
    elif deed == "again" and rng.random() < 0.3:
        store.close()
        store = new()
"""
FOUND = re.compile(rb"SECRET-[0-9.e-]+\.")


def on_disk(folder: Path) -> set[str]:
    found: set[str] = set()
    for path in folder.rglob("*"):
        try:
            found |= {text.decode() for text in FOUND.findall(path.read_bytes())} if path.is_file() else set()
        except FileNotFoundError:  # replaced meanwhile
            continue
    return found


@pytest.mark.parametrize("seed", range(4))
def test_copies_that_sqlite_leaves_where_it_moved_a_row_are_erased_too(tmp_path, seed):
    """Pages are balanced by inserts and deletes of texts of any length; `secure_delete` alone leaves some texts."""
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


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "lives", "seconds"), [("sqlite", 20, 2.0), ("milvus_lite", 3, 6.0)])
def test_what_was_forgotten_is_in_no_file_whenever_the_owner_is_killed(tmp_path, backend, lives, seconds):
    rng, gone = random.Random(7), set()
    for run in range(lives):
        command = [
            sys.executable,
            "-c",
            OWNER,
            str(tmp_path / "m"),
            str(Path(__file__).parent),
            str(run),
            backend,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "open\n"
            ends = time.monotonic() + rng.uniform(0.2, seconds)
            while time.monotonic() < ends and (line := process.stdout.readline()):
                gone.update(line.split()[1:])
                if rng.random() < 0.2:  # while it goes on
                    left = on_disk(tmp_path)
                    assert not gone & left, f"{run}, alive: {sorted(gone & left)[:3]}, {line[:50]}"
            process.send_signal(signal.SIGKILL)
            gone.update(word for line in process.stdout for word in line.split()[1:] if line.endswith("\n"))
        left = on_disk(tmp_path)
        assert not gone & left, f"{run}: {sorted(gone & left)[:3]}"
    assert len(gone) > 5 * lives
