"""Study: goal selector under load: heartbeat gaps, time from cancel to standstill, decision time."""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar_eval.options import entity_counts, positive_int
from lodestar_eval.study import EACH, Limit, Number, Row, Rows, Study, Whole

if TYPE_CHECKING:
    from lodestar_eval.live.selector_surroundings import SelectorSurroundings

_SIZES = "300,3000,30000"
_DELTA = 100  # entities per delta while the scene is being filled
_CHANGES = 25  # entities per delta during the measurement
_RATE = 10.0  # deltas per second during the measurement
_KINDS = 200  # number of different captions
_TEXT = "find the red chair"


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sizes", type=entity_counts, default=_SIZES, metavar="N,N", help=f"entities (default {_SIZES})"
    )
    parser.add_argument("--seconds", type=positive_int, default=20, help="of driving per size (default 20)")
    parser.add_argument("--cancels", type=positive_int, default=10, help="per size (default 10)")


def _measure(size: int, seconds: float, cancels: int, folder: Path) -> list[Row]:
    from lodestar_bringup.domains import free_domain
    from lodestar_bringup.stack import StackOptions, stack
    from lodestar_bringup.starter import Starter
    from lodestar_eval.crowded_scenes import crowd
    from lodestar_eval.live.selector_surroundings import SelectorSurroundings

    entities = list(crowd(size, _KINDS, np.random.default_rng(size)).values())
    names = ("goal_selector", "motion_gate")
    parameters: dict[str, dict[str, Any]] = {name: {"use_sim_time": False} for name in names}
    parameters["motion_gate"]["navigators"] = ["selector_surroundings"]
    # the grid is published only once; the robot sways on the spot, which must not count as stuck
    parameters["goal_selector"] |= {"loop.grid_patience": 0.0, "loop.stuck_time": 1e6}
    with free_domain() as domain:
        world = SelectorSurroundings(domain)
        specs = [s for s in stack("sim", StackOptions(parameters=parameters)) if s.name in names]
        own = {"ROS_DOMAIN_ID": str(domain), "XDG_STATE_HOME": str(folder.resolve())}
        starter = Starter(specs, folder / f"logs_{size}", environment=own)
        try:
            starter.start()
            return [{"size": size} | _drive(world, entities, seconds, cancels)]
        finally:
            starter.stop()
            world.close()


def _drive(world: SelectorSurroundings, entities: list, seconds: float, cancels: int) -> dict[str, float]:
    world.until(lambda: world.beats, "the goal selector's heartbeat")
    world.publish_grid()
    for start in range(0, len(entities), _DELTA):
        world.see(entities[start : start + _DELTA])
        time.sleep(0.05)
    known = lambda: world.diagnosis.get("scene.entities") == str(len(entities))  # noqa: E731
    world.until(known, f"the goal selector knows {len(entities)} entities", 300.0)
    handle = world.start(_TEXT)
    world.until(lambda: world.moving, "the robot moves")
    rng = np.random.default_rng(0)
    world.decided.clear()
    began = len(world.beats)
    _change(world, entities, rng, seconds)
    beats = np.array(world.beats[began:])
    stops = []
    for _ in range(cancels):
        moment = time.monotonic()
        world.cancel(handle)
        world.until(lambda: math.isfinite(world.stopped_at), "the robot stands")
        stops.append(world.stopped_at - moment)
        handle = _restart(world)
        _change(world, entities, rng, 0.5)
    heard, sent = np.diff(beats[:, 0]), np.diff(beats[:, 1])
    return {
        "gap_p99_s": float(np.percentile(sent, 99)),
        "gap_max_s": float(sent.max()),
        "heard_gap_p99_s": float(np.percentile(heard, 99)),
        "stop_p50_s": float(np.median(stops)),
        "stop_max_s": float(max(stops)),
        "decision_p50_s": float(np.median(world.decided)) if world.decided else float("nan"),
        "decision_max_s": max(world.decided, default=float("nan")),
    }


def _restart(world: SelectorSurroundings) -> Any:
    """Start the next directive, wait until the robot moves, and return its goal handle.

    The previous directive may still be ending.
    """
    for _ in range(100):
        handle = world.start(_TEXT)
        end = time.monotonic() + 5.0
        while time.monotonic() < end:
            if world.moving:
                return handle
            time.sleep(0.01)
    raise TimeoutError("the robot does not move again")


def _change(world: SelectorSurroundings, entities: list, rng: np.random.Generator, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        world.see([entities[i] for i in rng.choice(len(entities), _CHANGES, replace=False)])
        time.sleep(1.0 / _RATE)


def _growth(rows: Rows) -> dict[str, float]:
    return {f"_growth_{key}": rows[-1][key] / rows[0][key] for key in ("gap_p99_s", "stop_max_s")}


BENCHMARK = Study(
    "selector-scale",
    "The goal selector as the scene grows: heartbeats, stopping, deciding.",
    _add_options,
    lambda options: ((size, options.seconds, options.cancels, options.out) for size in options.sizes),
    _measure,
    numbers=(Number(EACH, by=("size",)), Whole(_growth)),
    bars=(
        Limit("gap_p99_s.{last}", 0.1, False, "gap_p99_s at {last}"),  # DESIGN section 6
        Limit("stop_max_s.{last}", 0.5, False, "stop_max_s at {last}"),  # DESIGN section 6
        *(
            Limit(f"_growth_{key}", 1.5, False, key + " at {last} over {first}")
            for key in ("gap_p99_s", "stop_max_s")
        ),
    ),
    notes=(
        "The real goal_selector and motion_gate over DDS; robot, navigator, experts and scene are played by the "
        f"benchmark's process. Gaps are between the stamps of heartbeats, while deltas of {_CHANGES} entities come "
        f"{_RATE:.0f} times a second; `heard` gaps include the way to this process. stop: from the call of cancel "
        "to the first zero velocity behind the gate. decision: from the question at the frontier expert to the "
        "decision's message.",
    ),
)
