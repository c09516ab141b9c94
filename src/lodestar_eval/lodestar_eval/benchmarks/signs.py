"""Benchmark: signs read in simulated buildings, and rooms found by their numbers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.metrics import mean
from lodestar_eval.options import seed_list
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.sign_trials import RoomTrial, SignTrial

KINDS = ("number", "exit", "room", "name", "warning")
_BARS = {"number": "room numbers of 50 mm", "exit": "EXIT of 150 mm"}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seeds", type=seed_list, default=seed_list("421-430"), help="offices (default 421-430)"
    )
    parser.add_argument(
        "--skip-rooms", action="store_true", help="read signs only; no robot searches for a room"
    )
    parser.add_argument(
        "--kinds", default="all", help="of signs that are read: number,exit,... (default all)"
    )
    parser.add_argument("--skip-reading", action="store_true", help="search for rooms only")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.assembly import parts
    from lodestar.perception.config import SignConfig
    from lodestar.perception.frames import DetectorUnavailable
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.sign_trials import room_trial, sign_trials
    from lodestar_sim.worlds import world_from_spec

    config = SignConfig(reader="rapidocr")
    try:
        reader = parts.sign_reader(config)
        assert reader is not None
        reader.read(np.full((64, 64, 3), 200, np.uint8))  # the first call loads the model
    except DetectorUnavailable as error:
        raise BadOptions(str(error)) from error
    kinds = KINDS if options.kinds == "all" else tuple(options.kinds.split(","))
    if unknown := set(kinds) - set(KINDS):
        raise BadOptions(f"--kinds: there is no {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    read, found = list["SignTrial"](), list["RoomTrial"]()
    for seed in options.seeds.values:
        world = world_from_spec("office?signs=1", seed)
        if not options.skip_reading:
            own = list(sign_trials(world, seed, reader, kinds))
            read += own
            progress(f"office {seed}: {sum(one.right for one in own)} of {len(own)} signs read")
        trial = None if options.skip_rooms else room_trial(world, seed, phrase_book())
        if trial is not None:
            found.append(trial)
            progress(f"office {seed}: room {trial.number} {'reached' if trial.reached else trial.said}")
    return _result(read, found)


def _result(read: list[SignTrial], found: list[RoomTrial]) -> Result:
    metrics: dict[str, float] = {}
    bars: list[Bar] = []
    for kind, name in _BARS.items():
        own = [one for one in read if one.kind == kind]
        if not own:
            continue
        metrics[f"{kind}.right"] = mean([float(one.right) for one in own])
        metrics[f"{kind}.wrong"] = mean([float(bool(one.wrong)) for one in own])
        bars += [
            Bar(f"{name}: right after three views", metrics[f"{kind}.right"], 0.90),
            Bar(f"{name}: wrong", metrics[f"{kind}.wrong"], 0.02, at_least=False),
        ]
    seconds = [value for one in read for value in one.seconds]
    if seconds:
        metrics["view_ms.mean"] = 1e3 * float(np.mean(seconds))
        metrics["view_ms.p95"] = 1e3 * float(np.percentile(seconds, 95))
    if found:
        metrics["rooms.reached"] = mean([float(one.reached) for one in found])
        bars.append(Bar("rooms by number: reached", metrics["rooms.reached"], 0.8))
        frames = sum(one.frames for one in found)
        metrics["frame_ms.mean"] = 1e3 * sum(one.read_seconds for one in found) / max(frames, 1)
    return Result(metrics, tuple(bars), tables=(_kinds(read), _rooms(found)))


def _kinds(read: list[SignTrial]) -> Table:
    rows = []
    for kind in dict.fromkeys(one.kind for one in read):
        own = [one for one in read if one.kind == kind]
        wrong = sorted({text for one in own for text in one.wrong})
        rows.append(
            (
                kind,
                str(len(own)),
                f"{mean([float(one.right) for one in own]):.2f}",
                f"{mean([float(bool(one.wrong)) for one in own]):.2f}",
                ", ".join(repr(text) for text in wrong[:6]),
            )
        )
    return Table(
        "Signs after three views", ("kind", "signs", "right", "wrong", "texts of no sign"), tuple(rows)
    )


def _rooms(found: list[RoomTrial]) -> Table:
    rows = tuple(
        (
            str(one.seed),
            one.number,
            "yes" if one.reached else "no",
            f"{one.metres:.0f}",
            f"{one.duration:.0f}",
            str(one.reads),
            one.said[:90],
        )
        for one in found
    )
    return Table("Rooms by number", ("office", "room", "reached", "m", "s", "images read", "said"), rows)


BENCHMARK = Benchmark(
    "signs",
    "Signs that are read from three views, and rooms that are found by their numbers.",
    _add_options,
    _run,
)
