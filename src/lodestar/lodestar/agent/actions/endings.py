"""Error code, message and report of a directive that ends."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy import ndimage

from lodestar.agent.decisions.admission import Admission
from lodestar.agent.decisions.proposers import KNOWER
from lodestar.agent.decisions.targets import TargetView
from lodestar.agent.errands.commands import DirectiveResult
from lodestar.agent.errands.errand import UNCONFIRMED, UNREACHABLE
from lodestar.agent.errands.open_action import GoneThing
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.searched_floor import SearchedFloor
from lodestar.agent.errands.words import counted, name_of, nearest_in_words
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.stamps import NEVER, Stamp
from lodestar.experts.protocol import RejectionReason
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity

_ARM = 0.4  # metres from where the robot's centre can be, within which it comes to a place


def give_up(
    run: DirectiveRun,
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
    if known and admission.rejection(KNOWER) is RejectionReason.NO_VIEWPOINT:
        return (
            ErrorCode.TARGET_UNREACHABLE,
            f"{name_of(known[0])} fits {target!r}, but no place from which it can be faced is reachable.",
        )
    fitting = given_up(run, view, entities)
    if fitting is not None:
        return fitting
    if blind > 0.0:
        return (
            ErrorCode.NO_EXPERT,
            f"Nothing was seen for {blind:.0f} s, so that the search for {target!r} says nothing: do perception, "
            "semantic_voxels and scene_dictionary run, and does the camera send images?",
        )
    return ErrorCode.TARGET_NOT_FOUND, not_found(
        run, view, entities, searched, "Everything reachable is explored and no"
    )


def given_up(
    run: DirectiveRun, view: TargetView, entities: Mapping[int, Entity]
) -> tuple[ErrorCode, str] | None:
    """Return code and message of a thing that fits, and that could not be come to or was not seen again there."""
    for reason, code in (
        (UNREACHABLE, ErrorCode.TARGET_UNREACHABLE),
        (UNCONFIRMED, ErrorCode.TARGET_NOT_CONFIRMED),
    ):
        for entity_id, why in run.errand.excluded.items():
            if why == reason and view.score(entity_id) > 0.0 and entity_id in entities:
                target = run.step.target or run.directive.text
                return code, f"{name_of(entities[entity_id])} fits {target!r}: {reason}."
    return None


def not_found(
    run: DirectiveRun,
    view: TargetView,
    entities: Mapping[int, Entity],
    searched: SearchedFloor | None,
    begin: str = "No",
) -> str:
    """Return in words that the target was not found, how much of the floor was looked at, and what came nearest."""
    nearest = nearest_in_words(view.candidates, entities, run.config.nearest_matches)
    seen = f"What came nearest: {nearest}." if nearest else "Nothing like it was seen."
    looked = "" if searched is None else f" {searched.in_words()}"
    target = run.step.target or run.directive.text
    return f"{begin} {target!r} was found.{looked} {seen}"


def gone(run: DirectiveRun, searched: SearchedFloor, now: Stamp) -> tuple[ErrorCode, str]:
    """Return code and message of a search for a thing that was known and is no longer there."""
    thing = next(iter(run.errand.gone.values()))
    when = f", {ago(now - thing.seen)}" if thing.seen > NEVER else ""
    others = len(run.errand.gone) - 1
    more = f" So {'is' if others == 1 else 'are'} {others} more that fitted." if others else ""
    return (
        ErrorCode.TARGET_GONE,
        f"{name_of_gone(thing)} is gone: it was last seen {thing.place}{when}, and its place is empty now.{more} "
        f"{searched.in_words()} No other one was found.",
    )


def hidden(
    run: DirectiveRun, entities: Mapping[int, Entity], searched: SearchedFloor
) -> tuple[ErrorCode, str]:
    """Return code and message of a search for a thing that was known and is hidden from wherever the robot can go."""
    thing = next((entities[i] for i in run.errand.out_of_sight if i in entities), None)
    name = "the thing" if thing is None else name_of(thing)
    return (
        ErrorCode.TARGET_NOT_CONFIRMED,
        f"{name[:1].upper()}{name[1:]} may still be where it was, but something stands before it, and no place that I "
        f"can reach shows it. {searched.in_words()} No other one was found.",
    )


def barred(run: DirectiveRun, known: Entity, searched: SearchedFloor) -> tuple[ErrorCode, str]:
    """Return code and message of a search for a known thing to which no way leads any more."""
    name = name_of(known)
    why = f" ({run.errand.last_failure})" if run.errand.last_failure else ""
    return (
        ErrorCode.TARGET_UNREACHABLE,
        f"{name[:1].upper()}{name[1:]} fits, but the way to it is shut{why}, and I looked for another one in vain. "
        f"{searched.in_words()}",
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


def result_of(
    run: DirectiveRun,
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
