"""Benchmark: log loss and calibration of the room belief in partly seen buildings of annotated rooms."""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.metrics import bootstrap_interval, mean
from lodestar_eval.options import data_folder, positive_int, seed_list
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar.experts.config import BeliefConfig
    from lodestar_eval.belief_trials import Told, Trial

_EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)  # edges of the probability bins in the reliability table
SCANNED = "scanned"  # name of the source with real scanned rooms, from the half used for no tuning
WORLDS = ("apartment", "office", "warehouse")


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


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.experts.config import BeliefConfig
    from lodestar.experts.room_belief import RoomBelief
    from lodestar_eval.belief_trials import tell
    from lodestar_eval.phrase_book import phrase_book

    book = phrase_book()
    beliefs = {name: RoomBelief(book, config) for name, config in variants(BeliefConfig()).items()}
    metrics: dict[str, float] = {}
    rows: list[tuple[str, ...]] = []
    tables = []
    for source, trials in _sources(options):
        told: dict[str, list[Told]] = {name: [] for name in beliefs}
        for trial in trials:
            for name, belief in beliefs.items():
                told[name].append(tell(trial, belief))
        for name, found in told.items():
            values, row = scores(found)
            metrics |= {f"{key}.{source}.{name}": value for key, value in values.items()}
            rows.append((source, name, *row))
        gained = metrics[f"room_nats.{source}.belief"], metrics[f"room_nats.{source}.near_only"]
        progress(
            f"{source}: {len(told['belief'])} trials, {gained[0]:+.3f} nats, by near things {gained[1]:+.3f}"
        )
        tables.append(reliability(told["belief"], f"Reliability, {source}"))
    columns = (
        "rooms",
        "belief",
        "trials",
        "log loss, room",
        "gain on uniform",
        "log loss, cell",
        "gain",
        "first is right",
    )
    bars = (
        Bar("nats gained on uniform, scanned rooms, lower limit", metrics[f"room_nats_low.{SCANNED}.belief"], 0.0),
        Bar(
            "nats gained on the things near a place alone, scanned rooms",
            metrics[f"room_nats.{SCANNED}.belief"] - metrics[f"room_nats.{SCANNED}.near_only"], 0.0,
        ),
    )  # fmt: skip
    return Result(metrics, bars, (Table("Log loss, nats", columns, tuple(rows)), *tables), (), _NOTES)


def variants(config: BeliefConfig) -> dict[str, BeliefConfig]:
    """Return the belief as configured, and the earlier variant with weights by co-occurrence alone."""
    before = replace(
        config, near_trust=0.5, room_trust=0.0, evidence_trust=0.0, plate_trust=0.0, bounds=(0.25, 6.0)
    )
    return {"belief": config, "near_only": before}


def _sources(options: argparse.Namespace) -> Iterator[tuple[str, Iterator[Trial]]]:
    from lodestar_eval.belief_trials import mixed_trials, scanned_rooms
    from lodestar_eval.referit import BadData, load_rooms

    data = data_folder(options.data, "nr3d_dev")
    try:
        rooms = scanned_rooms(load_rooms(data, options.half).entities)
    except BadData as error:
        raise BadOptions(str(error)) from error
    yield SCANNED, mixed_trials(rooms, options.trials, np.random.default_rng(2))
    for kind in WORLDS:
        yield kind, _simulated(kind, options.seeds.values, options.per_building)


def _simulated(kind: str, seeds: Sequence[int], count: int) -> Iterator[Trial]:
    from lodestar_eval.belief_trials import hide, world_rooms
    from lodestar_sim.worlds.sources import world_from_spec

    for seed in seeds:
        rooms, rng = world_rooms(world_from_spec(kind, seed)), np.random.default_rng([seed, 7])
        things = np.array([len(room.things) for room in rooms], float)
        for where in rng.choice(len(rooms), count, p=things / things.sum()):
            trial = hide(rooms, int(where), rng)
            if trial is not None:
                yield trial


def scores(told: Sequence[Told]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return metrics and their table row. Log losses are in nats; a gain is relative to a uniform distribution."""
    rooms = np.array([-math.log(max(float(one.rooms[one.room]), 1e-12)) for one in told])
    cells = np.array([-math.log(one.cell) for one in told])
    even = np.array([math.log(one.cells) for one in told])
    floors = np.array([-math.log(one.even) for one in told])
    low, high = bootstrap_interval(list(floors - rooms), np.random.default_rng(0))
    first = mean([float(int(one.rooms.argmax()) == one.room) for one in told])
    values = {
        "trials": float(len(told)), "room_log_loss": float(rooms.mean()), "room_nats": float((floors - rooms).mean()),
        "room_nats_low": low, "room_nats_high": high, "cell_log_loss": float(cells.mean()),
        "cell_nats": float((even - cells).mean()), "first": first,
    }  # fmt: skip
    row = (
        str(len(told)), f"{rooms.mean():.3f}", f"{values['room_nats']:+.3f} ({low:+.3f} to {high:+.3f})",
        f"{cells.mean():.3f}", f"{values['cell_nats']:+.3f}", f"{first:.2f}",
    )  # fmt: skip
    return values, row


def reliability(told: Sequence[Told], title: str) -> Table:
    """Return a table of the frequency with which the target was in a room, by the probability given for that room."""
    chances = np.concatenate([one.rooms for one in told])
    right = np.concatenate([np.arange(len(one.rooms)) == one.room for one in told])
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


_NOTES = (
    "A trial hides one thing and all of its kind; half of the other things were seen, drawn at random. Six scanned "
    "rooms drawn at random make a building; a simulated building has its own rooms. No plate says what a room is. All "
    "of the floor may hide the target.",
    "near_only: the weights by co-occurrence with the things near a cell that served before (power 0.5).",
    "uniform: by area. The powers were fitted on the half `fit` of the scanned rooms; simulated buildings served for "
    "no choice.",
)

BENCHMARK = Benchmark(
    "room-belief",
    "Where a hidden thing is, by what was seen around it: log loss and calibration.",
    _add_options,
    _run,
)
