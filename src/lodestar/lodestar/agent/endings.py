"""Error code, message and report of a directive that ends."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy import ndimage

from lodestar.agent.admission import Admission
from lodestar.agent.commands import DirectiveResult
from lodestar.agent.errors import ErrorCode
from lodestar.agent.open_action import GoneThing
from lodestar.agent.run import UNCONFIRMED, UNREACHABLE, Run
from lodestar.agent.searched_floor import SearchedFloor
from lodestar.agent.stamps import NEVER, Stamp
from lodestar.agent.targets import TargetView
from lodestar.agent.words import counted, name_of, nearest_in_words
from lodestar.experts.protocol import RejectionReason
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.grid.paths import path_lengths
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity

_EDGE = 8  # cells in a row that are an open edge, as of the explorer's frontiers
_ARM = 0.4  # metres from where the robot's centre can be, within which it comes to a place


def give_up(
    run: Run,
    admission: Admission,
    view: TargetView,
    entities: Mapping[int, Entity],
    blind: float = 0.0,
    searched: SearchedFloor | None = None,
) -> tuple[ErrorCode, str]:
    """Code and message of a search that explored everything it could reach.

    blind: seconds for which nothing at all was seen, where that makes the search worth nothing; else 0.
    """
    target = run.step.target or run.directive.text
    known = [entities[c.entity_id] for c in view.accepted if c.entity_id in entities]
    if known and admission.rejection("semantic_map") is RejectionReason.NO_VIEWPOINT:
        return (
            ErrorCode.TARGET_UNREACHABLE,
            f"{name_of(known[0])} fits {target!r}, but no place from which it can be faced is reachable.",
        )
    for reason, code in (
        (UNREACHABLE, ErrorCode.TARGET_UNREACHABLE),
        (UNCONFIRMED, ErrorCode.TARGET_NOT_CONFIRMED),
    ):
        for entity_id, why in run.excluded.items():
            if why == reason and view.score(entity_id) > 0.0 and entity_id in entities:
                return code, f"{name_of(entities[entity_id])} fits {target!r}: {reason}."
    if blind > 0.0:
        return (
            ErrorCode.NO_EXPERT,
            f"Nothing was seen for {blind:.0f} s, so that the search for {target!r} says nothing: do perception, "
            "semantic_voxels and scene_dictionary run, and does the camera send images?",
        )
    nearest = nearest_in_words(view.candidates, entities, run.config.nearest_matches)
    seen = f" What came nearest: {nearest}." if nearest else " Nothing like it was seen."
    looked = "" if searched is None else f" {searched.in_words()}"
    message = f"Everything reachable is explored and no {target!r} was found.{looked}{seen}"
    return ErrorCode.TARGET_NOT_FOUND, message


def gone(run: Run, searched: SearchedFloor, now: Stamp) -> tuple[ErrorCode, str]:
    """Return code and message of a search for a thing that was known and is no longer there."""
    thing = next(iter(run.gone.values()))
    when = f", {ago(now - thing.seen)}" if thing.seen > NEVER else ""
    others = len(run.gone) - 1
    more = f" So {'is' if others == 1 else 'are'} {others} more that fitted." if others else ""
    return (
        ErrorCode.TARGET_GONE,
        f"{name_of_gone(thing)} is gone: it was last seen {thing.place}{when}, and its place is empty now.{more} "
        f"{searched.in_words()} No other one was found.",
    )


def ago(seconds: float) -> str:
    """Return how long ago something was, in words."""
    return f"{seconds:.0f} s ago" if seconds < 120.0 else f"{seconds / 60.0:.0f} min ago"


def name_of_gone(thing: GoneThing) -> str:
    """Return its name at the begin of a sentence."""
    return f"{thing.name[:1].upper()}{thing.name[1:]}"


def explored_in_words(grid: OccupancyGrid2D, reached: np.ndarray, left: str) -> str:
    """Return in words how much was explored, and how much of that the robot can reach.

    reached: (rows, columns) bool, where its centre can be. left: what the explorer says of the rest.
    """
    cells = math.ceil(_ARM / grid.resolution)
    near = ndimage.binary_dilation(reached, iterations=cells) & grid.free
    share = near.sum() / max(int(grid.free.sum()), 1)
    rest = f": {left}" if left else ""
    return f"Explored {grid.free_area:.0f} m2, {100 * share:.0f} % of which the robot can come to{rest}."


def has_open_edge(grid: OccupancyGrid2D, pose: np.ndarray, inside: np.ndarray | None) -> bool:
    """Return whether floor that the robot at pose (3,) can come to borders on unknown space.

    inside: (rows, columns) bool, the cells that count; None = all.
    """
    unknown = ndimage.binary_dilation(~(grid.free | grid.occupied), np.ones((3, 3)))
    edge = unknown & grid.free & np.isfinite(path_lengths(grid, pose[:2]))
    if inside is not None:
        edge &= inside
    labels, count = ndimage.label(edge, np.ones((3, 3)))
    return bool(count) and int(np.bincount(labels.ravel())[1:].max()) >= _EDGE


def result_of(
    run: Run,
    code: ErrorCode,
    message: str,
    view: TargetView,
    mirror: SceneMirror | None,
    now: float,
    travelled: float,
    pose: np.ndarray | None,
    searched: float = math.nan,
) -> DirectiveResult:
    """The result, with what was seen instead and a report for a person. searched: share of the floor."""
    nearest = tuple(c.entity_id for c in view.candidates if c.entity_id not in run.found)
    success = code is ErrorCode.NONE
    told = [*run.told, *([] if message in run.told else [message])]
    duration = now - run.started
    story = " ".join(told) if not any("\n" in part for part in told) else "\n".join(told)
    account = f"Drove {travelled:.1f} m in {duration:.0f} s; {counted(run.decisions, 'decision')}."
    return DirectiveResult(
        error_code=code,
        error_msg="" if success else message,
        success=success,
        entity_ids=tuple(run.found),
        nearest_matches=() if success else nearest[: run.config.nearest_matches],
        epochs=run.decisions,
        distance_travelled=travelled,
        duration=duration,
        report=f"{story}\n{account}" if "\n" in story else f"{story} {account}",
        final_pose=None if pose is None else pose.copy(),
        question=run.question if code is ErrorCode.AMBIGUOUS else None,
        answers=tuple(run.answers),
        searched_share=searched,
    )
