"""How a directive ends when there is nothing left to try, and what is reported of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestar.agent.admission import Admission
from lodestar.agent.commands import DirectiveResult
from lodestar.agent.errors import ErrorCode
from lodestar.agent.run import UNCONFIRMED, UNREACHABLE, Run
from lodestar.agent.targets import TargetView
from lodestar.agent.words import inventory, name_of, nearest_in_words
from lodestar.experts.protocol import RejectionReason
from lodestar.language.directive import DirectiveKind
from lodestar.scene.records import Entity


def give_up(
    run: Run, admission: Admission, view: TargetView, entities: Mapping[int, Entity], blind: float = 0.0
) -> tuple[ErrorCode, str]:
    """Code and message of a search that explored everything it could reach.

    blind: seconds for which nothing at all was seen, where that makes the search worth nothing; else 0.
    """
    target = run.subtask.target or run.directive.text
    known = [entities[c.entity_id] for c in view.accepted if c.entity_id in entities]
    if known and admission.rejection("semantic_map") is RejectionReason.NO_VIEWPOINT:
        return (
            ErrorCode.TARGET_UNREACHABLE,
            f"{name_of(known[0])}, fits {target!r}, but no place from which it can be faced is reachable.",
        )
    for reason, code in (
        (UNREACHABLE, ErrorCode.TARGET_UNREACHABLE),
        (UNCONFIRMED, ErrorCode.TARGET_NOT_CONFIRMED),
    ):
        for entity_id, why in run.excluded.items():
            if why == reason and view.score(entity_id) > 0.0 and entity_id in entities:
                return code, f"{name_of(entities[entity_id])}, fits {target!r}: {reason}."
    if blind > 0.0:
        return (
            ErrorCode.NO_EXPERT,
            f"Nothing was seen for {blind:.0f} s, so that the search for {target!r} says nothing: do perception, "
            "semantic_voxels and scene_dictionary run, and does the camera send images?",
        )
    nearest = nearest_in_words(view.candidates, entities, run.config.nearest_matches)
    seen = f" Nearest matches: {nearest}." if nearest else " Nothing like it was seen."
    return ErrorCode.TARGET_NOT_FOUND, f"Everything reachable is explored and no {target!r} was found.{seen}"


def result_of(
    run: Run,
    code: ErrorCode,
    message: str,
    view: TargetView,
    entities: Mapping[int, Entity],
    now: float,
    travelled: float,
    pose: np.ndarray | None,
) -> DirectiveResult:
    """The result, with what was seen instead and a report for a person."""
    nearest = tuple(c.entity_id for c in view.candidates if c.entity_id not in run.found)
    success = code is ErrorCode.NONE
    found = tuple(run.found)
    if success and run.directive.kind is DirectiveKind.INVENTORY:
        found = tuple(sorted(entities))
        report = inventory(entities.values())
    else:
        names = [name_of(entities[i]) for i in run.found if i in entities]
        report = f"{message} Found: {'; '.join(names)}." if names and not success else message
    return DirectiveResult(
        error_code=code,
        error_msg="" if success else message,
        success=success,
        entity_ids=found,
        nearest_matches=() if success else nearest[: run.config.nearest_matches],
        epochs=run.decisions,
        distance_travelled=travelled,
        duration=now - run.started,
        report=report,
        final_pose=None if pose is None else pose.copy(),
    )
