"""Study: log loss and calibration of the room belief in partly seen buildings of annotated rooms."""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar_eval.options import data_folder, positive_int, seed_list
from lodestar_eval.registry import BadOptions, Table
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, count

if TYPE_CHECKING:
    from lodestar.experts.config import BeliefConfig
    from lodestar_eval.belief_trials import Told, Trial

_EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)  # edges of the probability bins in the reliability table
SCANNED = "scanned"  # name of the source with real scanned rooms, from the half used for no tuning
WORLDS = ("apartment", "office", "warehouse")
_BY = ("source", "belief")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, default=None, help="folder of rooms (default: nr3d_dev in $LODESTAR_DATA)"
    )
    parser.add_argument("--trials", type=positive_int, default=300, help="in scanned rooms (default 300)")
    parser.add_argument(
        "--half", choices=("fit", "report"), default="report", help="of the scanned rooms (default report)"
    )
    parser.add_argument(
        "--seeds", type=seed_list, default="11-20", help="of simulated buildings (default 11-20)"
    )
    parser.add_argument(
        "--per-building", type=positive_int, default=10, help="trials in each simulated building (default 10)"
    )


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    yield SCANNED, options.trials, data_folder(options.data, "nr3d_dev"), options.half
    for kind in WORLDS:
        for seed in options.seeds.values:
            yield kind, options.per_building, seed


def _measure(source: str, trials: int, *where: Any) -> Iterator[Row]:
    """Yield a row per trial and belief."""
    from lodestar.experts.config import BeliefConfig
    from lodestar.experts.room_belief import RoomBelief
    from lodestar_eval.belief_trials import tell
    from lodestar_eval.phrase_book import phrase_book

    configs = variants(BeliefConfig()).items()
    beliefs = {name: RoomBelief(phrase_book(), config) for name, config in configs}
    for trial in (_scanned if source == SCANNED else _simulated)(source, trials, *where):
        for name, belief in beliefs.items():
            yield {"source": source, "belief": name} | row_of(tell(trial, belief))


def variants(config: BeliefConfig) -> dict[str, BeliefConfig]:
    """Return the belief as configured, and the earlier variant with weights by co-occurrence alone."""
    before = replace(
        config, near_trust=0.5, room_trust=0.0, evidence_trust=0.0, plate_trust=0.0, bounds=(0.25, 6.0)
    )
    return {"belief": config, "near_only": before}


def _scanned(source: str, count: int, data: Path, half: str) -> Iterable[Trial]:
    from lodestar_eval.belief_trials import mixed_trials, scanned_rooms
    from lodestar_eval.referit import BadData, load_rooms

    try:
        rooms = scanned_rooms(load_rooms(data, half).entities)
    except BadData as error:
        raise BadOptions(str(error)) from error
    return mixed_trials(rooms, count, np.random.default_rng(2))


def _simulated(kind: str, count: int, seed: int) -> Iterator[Trial]:
    from lodestar_eval.belief_trials import hide, world_rooms
    from lodestar_sim.worlds.sources import world_from_spec

    rooms, rng = world_rooms(world_from_spec(kind, seed)), np.random.default_rng([seed, 7])
    things = np.array([len(room.things) for room in rooms], float)
    for where in rng.choice(len(rooms), count, p=things / things.sum()):
        trial = hide(rooms, int(where), rng)
        if trial is not None:
            yield trial


def row_of(told: Told) -> Row:
    """Return log losses of a trial in nats, and gains on a uniform distribution."""
    room, cell = -math.log(max(float(told.rooms[told.room]), 1e-12)), -math.log(told.cell)
    return {
        "room_log_loss": room, "room_nats": -math.log(told.even) - room, "cell_log_loss": cell,
        "cell_nats": math.log(told.cells) - cell, "first": bool(told.rooms.argmax() == told.room),
        "_rooms": told.rooms, "_room": told.room,
    }  # fmt: skip


def reliability(told: Rows, title: str) -> Table:
    """Return a table of the frequency with which the target was in a room, by the probability given for that room."""
    chances = np.concatenate([row["_rooms"] for row in told])
    right = np.concatenate([np.arange(len(row["_rooms"])) == row["_room"] for row in told])
    rows = []
    for low, high in itertools.pairwise(_EDGES):
        inside = (chances >= low) & ((chances < high) | (high == 1.0))
        if inside.any():
            rows.append(
                (
                    f"{low:g} to {high:g}",
                    str(int(inside.sum())),
                    f"{chances[inside].mean():.3f}",
                    f"{right[inside].mean():.3f}",
                )
            )
    return Table(title, ("probability told", "rooms", "mean told", "target was there"), tuple(rows))


def _tables(rows: Rows) -> list[Table]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["belief"] == "belief":
            found.setdefault(row["source"], []).append(row)
    return [reliability(own, f"Reliability, {source}") for source, own in found.items()]


def _gain(rows: Rows) -> dict[str, float]:
    """Return the nats that the belief gains on near things alone, in scanned rooms."""
    nats = {
        name: np.mean([row["room_nats"] for row in rows if (row["source"], row["belief"]) == (SCANNED, name)])
        for name in ("belief", "near_only")
    }
    return {"_gain": float(nats["belief"] - nats["near_only"])}


BENCHMARK = Study(
    "room-belief",
    "Where a hidden thing is, by what was seen around it: log loss and calibration.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number("trials", "first", count, by=_BY, digits=0),
        Number("room_log_loss", by=_BY),
        Number("room_nats", by=_BY, interval=True),
        Number("cell_log_loss", by=_BY),
        Number("cell_nats", by=_BY),
        Number("first", by=_BY, digits=2),
        Whole(_gain),
    ),
    bars=(
        Limit(
            f"room_nats_low.{SCANNED}.belief", 0.0, name="nats gained on uniform, scanned rooms, lower limit"
        ),
        Limit("_gain", 0.0, name="nats gained on the things near a place alone, scanned rooms"),
    ),
    tables=_tables,
    notes=(
        "A trial hides one thing and all of its kind; half of the other things were seen, drawn at random. Six scanned "
        "rooms drawn at random make a building; a simulated building has its own rooms. No plate says what a room is. "
        "All of the floor may hide the target.",
        "near_only: the weights by co-occurrence with the things near a cell that served before (power 0.5).",
        "uniform: by area. The powers were fitted on the half `fit` of the scanned rooms; simulated buildings served "
        "for no choice.",
    ),
)
