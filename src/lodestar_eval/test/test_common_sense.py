"""Tests of co-occurrence knowledge against really scanned rooms, to which no part of it was fitted."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lodestar.language.priors import CoOccurrence
from lodestar.models.lexicon import load_lexicon
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.referit import load_rooms

BUILDING = {
    "wall",
    "floor",
    "ceiling",
    "door",
    "window",
    "doorframe",
    "windowsill",
    "object",
    "structure",
    "pillar",
}


@pytest.fixture(scope="module")
def rooms() -> list[list[str]]:
    """Return the categories of objects in each room, 5 or more."""
    folder = Path(os.environ.get("LODESTAR_DATA", "")) / "nr3d_dev"
    if not os.environ.get("LODESTAR_DATA") or not folder.is_dir():
        pytest.skip("LODESTAR_DATA is not set to a folder with nr3d_dev")
    scans = load_rooms(folder).entities
    kinds = [sorted({e.label for e in scans[scan].values()} - BUILDING) for scan in sorted(scans)]
    return [kind for kind in kinds if len(kind) >= 5]


def test_a_thing_is_told_to_be_in_its_own_room_rather_than_in_another(rooms):
    book, lexicon = phrase_book(), load_lexicon()
    book.vectors(sorted({label for room in rooms for label in room}))  # embeds all labels in one batch
    sense = CoOccurrence(book)
    rng = np.random.default_rng(1)
    right, asked = 0.0, 0
    while asked < 400:
        own, other = (rooms[int(i)] for i in rng.choice(len(rooms), 2, replace=False))
        thing = own[int(rng.integers(len(own)))]
        if thing in other or lexicon.canonical(thing) is None:
            continue
        here = sense.near(thing, [label for label in own if label != thing]).mean()
        there = sense.near(thing, other).mean()
        right += float(here > there) + 0.5 * float(here == there)
        asked += 1
    assert right / asked > 0.70  # measured: 0.76 on 1,011; 0.74 without `found_in` in the lexicon
