"""The world model's write path in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lodestar.scene.amendments import AmendmentRefused, Refusal
from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.records import SceneDelta
from lodestar.worldmodel.amendments import Amendment
from lodestar.worldmodel.scene_edits import amend_scene
from lodestar.worldmodel.world_model import Problem, Reply

_PROBLEMS = {
    Refusal.UNKNOWN_ENTITY: Problem.UNKNOWN_ENTITY,
    Refusal.STALE: Problem.CONFLICT,
    Refusal.BAD_REQUEST: Problem.BAD_REQUEST,
}


class LocalScene:
    """The write path in one process: amends a scene dictionary, and tells its deltas."""

    def __init__(self, scene: SceneDictionary, publish: Callable[[SceneDelta], None]) -> None:
        self._scene, self._publish = scene, publish

    def amend(self, amendments: Sequence[Amendment], answered: Callable[[Reply], None]) -> None:
        """Carry them out, or refuse all, before returning."""
        try:
            made = amend_scene(self._scene, amendments)
        except AmendmentRefused as refused:
            answered(Reply(problem=_PROBLEMS[refused.refusal], why=str(refused)))
            return
        self._publish(made.delta)
        answered(Reply(made.inverse))
