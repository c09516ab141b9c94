"""Tests of the scores of the room belief."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestar.scene.records import Entity
from lodestar_eval.belief_trials import PLAIN, AnnotatedRoom, Told, hide, mixed_trials
from lodestar_eval.studies import room_belief


def thing(identity: int, label: str, x: float) -> Entity:
    middle = np.array([x, 1.0, 0.5])
    return Entity(
        id=identity, label=label, caption=label, mean=middle, covariance=np.eye(3) * 0.01,
        box_min=middle - 0.2, box_max=middle + 0.2,
    )  # fmt: skip


def room(*labels: str) -> AnnotatedRoom:
    things = tuple(thing(k, label, 0.5 + k) for k, label in enumerate(labels))
    return AnnotatedRoom(things, np.zeros(2), np.array([len(labels) + 1.0, 2.0]))


def test_nobody_saw_a_thing_of_the_hidden_kind_and_parts_of_buildings_are_not_hidden():
    rooms = [room("wall", "chair", "table"), room("chair", "bed", "lamp")]
    for seed in range(40):
        trial = hide(rooms, seed % 2, np.random.default_rng(seed))
        assert trial is not None and trial.target not in PLAIN and trial.room == seed % 2
        assert all(one.label != trial.target for seen in trial.seen for one in seen)
    assert hide([room("wall", "door")], 0, np.random.default_rng(0)) is None


def test_rooms_of_a_building_stand_apart():
    rooms = [room("chair", "table", "lamp"), room("bed", "lamp"), room("sofa", "plant", "book", "rug")]
    for trial in mixed_trials(rooms, 10, np.random.default_rng(1)):
        ends = sorted((float(one.low[0]), float(one.high[0])) for one in trial.rooms)
        assert all(after[0] - before[1] >= 5.9 for before, after in itertools.pairwise(ends))
        inside = trial.rooms[trial.room]
        assert (trial.place >= inside.low).all() and (trial.place <= inside.high).all()


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8), st.integers(0, 7))
def test_a_belief_as_uniform_as_areas_gains_nothing_and_a_surer_right_one_gains(weights, room_index):
    shares = np.array(weights) / sum(weights)
    true = room_index % len(shares)
    even = Told(shares, true, 0.1, 10, float(shares[true]))
    values = room_belief.row_of(even)
    assert values["room_nats"] == pytest.approx(0.0, abs=1e-9) and values["cell_nats"] == pytest.approx(
        0.0, abs=1e-9
    )
    surer = replace(even, rooms=np.eye(len(shares))[true] * 0.5 + shares * 0.5)
    assert room_belief.row_of(surer)["room_nats"] >= -1e-9


def test_the_reliability_table_counts_every_room_once():
    told = [
        Told(np.array([0.7, 0.2, 0.1]), 0, 0.1, 10, 0.3),
        Told(np.array([0.02, 0.97, 0.01]), 2, 0.1, 10, 0.3),
    ]
    rows = room_belief.reliability([room_belief.row_of(one) for one in told], "title").rows
    assert sum(int(row[1]) for row in rows) == 6
    assert rows[-1][3] == "0.000" and math.isclose(float(rows[-1][2]), 0.97)
