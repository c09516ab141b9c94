"""The loop's view of the target: scores from the port, without what the run has excluded."""

from __future__ import annotations

from dataclasses import replace

from lodestar.agent.commands import EmbedPhrases
from lodestar.agent.context import LoopContext
from lodestar.agent.run import BELOW_ACCEPT, UNSURE, Run
from lodestar.agent.targets import TargetView
from lodestar.language.directive import DirectiveKind
from lodestar.scene.records import Entity, EntityState


class TargetSearch:
    """Looks for the current step's target in the scene."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self._missing: tuple[str, ...] = ()

    def look(self, run: Run) -> TargetView:
        """The scene's candidates for the current step, without excluded entities among the accepted."""
        mirror = self._context.facts.mirror
        if mirror is None or run.kind is not DirectiveKind.FIND:
            return TargetView()
        run.excluded = {mirror.resolve(i): reason for i, reason in run.excluded.items()}
        view = self._context.targets.look(mirror, run.subtask)
        self._request_vectors(view.missing)
        for candidate in view.accepted:  # an entity that looked wrong once may turn out right later
            if run.excluded.get(candidate.entity_id) in (BELOW_ACCEPT, UNSURE):
                del run.excluded[candidate.entity_id]
        accepted = tuple(c for c in view.accepted if c.entity_id not in run.excluded)
        if run.subtask.count == 1:
            accepted = run.doubt.wanted(accepted, mirror.resolve)
        return replace(view, accepted=accepted)

    def accepted(self, view: TargetView) -> list[Entity]:
        """The accepted entities that are still in the scene, best first."""
        entities = (self._context.facts.entity(c.entity_id) for c in view.accepted)
        return [entity for entity in entities if entity is not None]

    def matches(self, run: Run) -> list[Entity] | None:
        """Every entity that the step asks for; None while a phrase has no vector."""
        mirror = self._context.facts.mirror
        if mirror is None:
            return []
        if not run.subtask.graphs:
            return [e for e in mirror.entities.values() if e.state is not EntityState.ARCHIVED]
        view = self._context.targets.look(mirror, run.subtask)
        if view.missing:
            self._request_vectors(view.missing)
            return None
        return self.accepted(view)

    def promising(self, run: Run, view: TargetView) -> list[Entity]:
        """Entities of the right kind that do not meet the whole query, best first."""
        threshold = self._context.config.promising
        likely = [c for c in view.candidates if c.semantic_score >= threshold]
        likely = [c for c in likely if c.entity_id not in run.excluded]
        ranked = sorted(likely, key=lambda c: -c.semantic_score)
        entities = (self._context.facts.entity(c.entity_id) for c in ranked)
        return [entity for entity in entities if entity is not None]

    def _request_vectors(self, missing: tuple[str, ...]) -> None:
        """Ask for the vectors of these phrases, once."""
        if missing and missing != self._missing:
            self._context.commands.append(EmbedPhrases(missing))
        self._missing = missing
