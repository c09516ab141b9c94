"""Target search of the loop: scored candidates for a step, without the entities that the run excluded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from lodestar.agent.decisions.only_fit import OnlyFit
from lodestar.agent.errands.commands import Command, EmbedPhrases
from lodestar.agent.errands.errand import BELOW_ACCEPT, GONE, SHIFTED, UNSURE
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.newest import Facts
from lodestar.agent.facts.times import Stamp
from lodestar.experts.searched_floor import SearchedFloor
from lodestar.geometry.boxes import box_distance
from lodestar.language.directive import Item, Step, StepKind
from lodestar.language.query_graph import QueryGraph
from lodestar.models.category_priors import CategoryPriors
from lodestar.query.targets import Targets, TargetView
from lodestar.query.verdict import Candidate
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState
from lodestar.scene.regions import is_called

_ASK_AGAIN = 5.0  # s without a phrase's vector, after which it is requested again


class Known(Protocol):
    """Port to the loop's context: configuration, newest facts, targets and the list of commands."""

    config: LoopConfig
    facts: Facts
    targets: Targets
    commands: list[Command]
    searched: SearchedFloor
    priors: CategoryPriors
    directives: int

    @property
    def now(self) -> float:
        """Return loop time in seconds."""


class TargetSearch:
    """Searches the scene for the target of the current step, without excluded entities."""

    def __init__(self, context: Known) -> None:
        self._context = context
        self._only_fit = OnlyFit(context.priors)
        self._asked: dict[str, float] = {}  # phrase -> time of the request for its vector, recent ones

    def look(self, run: DirectiveRun) -> TargetView:
        """Return the scene's candidates for the current step; excluded entities are not among the accepted."""
        mirror = self._context.facts.mirror
        if mirror is None or run.step.kind is not StepKind.FIND:
            return TargetView()
        run.errand.excluded = {mirror.resolve(i): reason for i, reason in run.errand.excluded.items()}
        view = self._context.targets.look(mirror, run.step)
        self._request_vectors(view.missing)
        for candidate in view.accepted:  # an entity that did not match may match after later observations
            if run.errand.excluded.get(candidate.entity_id) in (BELOW_ACCEPT, UNSURE):
                del run.errand.excluded[candidate.entity_id]
        self._take_back(run)
        pointed = self._pointed(run, view)
        if pointed is not None:
            rest = tuple(
                c for c in view.accepted if c.entity_id not in {*run.errand.excluded, pointed.entity_id}
            )
            others = () if run.step.count == 1 else rest
            known = tuple(c for c in view.candidates if c.entity_id != pointed.entity_id)
            return replace(view, candidates=(pointed, *known), accepted=(pointed, *others))
        accepted = tuple(c for c in view.accepted if c.entity_id not in run.errand.excluded)
        presumed = None if view.accepted else self._presumed(run, view)
        if presumed is not None:
            accepted, view = (presumed,), replace(view, presumed=presumed.entity_id)
        if run.step.scope.around is not None:
            near = {e.id for e in self._within(self.accepted(replace(view, accepted=accepted)), run.step)}
            accepted = tuple(c for c in accepted if c.entity_id in near)
        if run.step.count == 1:
            accepted = run.errand.doubt.wanted(accepted, mirror.resolve)
        return replace(view, accepted=accepted)

    def _presumed(self, run: DirectiveRun, view: TargetView) -> Candidate | None:
        """Return the candidate that is probably meant (`OnlyFit`) by a step that is to find one thing."""
        context, errand, step = self._context, run.errand, run.step
        if step.count != 1 or run.check is not None or step.scope.rooms or step.scope.around is not None:
            return None
        excluded = {i for i, why in errand.excluded.items() if why not in (BELOW_ACCEPT, UNSURE)}
        return self._only_fit.of(
            step, (context.directives, errand.number), view.candidates, excluded, context.facts, context.searched,
            context.now, errand.explored_at is not None, context.config.query.accept,
        )  # fmt: skip

    def _pointed(self, run: DirectiveRun, view: TargetView) -> Candidate | None:
        """Return the target that a person pointed at, also if its relations do not hold; None if there is
        none or it is excluded.
        """
        entity = self._context.facts.entity(run.errand.pointed)
        if entity is None or entity.id in run.errand.excluded:
            return None
        semantic = next((c.semantic_score for c in view.candidates if c.entity_id == entity.id), 0.0)
        return Candidate(
            entity.id, 1.0, semantic, explanation="you pointed at it", reading=len(run.step.graphs)
        )

    def _take_back(self, run: DirectiveRun) -> None:
        """Re-admit targets believed gone that were seen again, at another place or the old one."""
        for identity, thing in list(run.errand.gone.items()):
            entity = self._context.facts.entity(identity)
            if entity is None or self._context.facts.last_seen(entity) <= max(thing.seen, run.begun_stamp):
                continue
            if run.errand.excluded.get(entity.id) == GONE:
                del run.errand.excluded[entity.id]
            if thing.mean is None or math.dist(thing.mean[:2], entity.mean[:2]) <= SHIFTED:
                del run.errand.gone[identity]

    def is_another(self, run: DirectiveRun, entity_id: int, label: str) -> bool:
        """Return whether an entity has another label than its former `label` ("" = unknown) and no longer
        matches the target.
        """
        entity = self._context.facts.entity(entity_id) if label else None
        if entity is None or entity.label == label:
            return False
        view = self.look(run)
        return not view.missing and all(c.entity_id != entity.id for c in view.candidates)

    def unmeant(self, run: DirectiveRun) -> frozenset[int]:
        """Return the entities that the step explicitly excludes."""
        item, mirror = run.step.item, self._context.facts.mirror
        if item is None or mirror is None or not item.excluded:
            return frozenset()
        return self._context.targets.look(mirror, run.step).unmeant

    def known(self, graph: QueryGraph) -> list[Entity]:
        """Return the entities of the scene that meet a query, best first."""
        return self.meant(Item(((graph,),))) or []

    def meant(self, item: Item) -> list[Entity] | None:
        """Return the entities of the scene that an item means, best first; None while a phrase has no vector."""
        view = self._view(Step(StepKind.FIND, item))
        return None if view is None else self.accepted(view)

    def _view(self, step: Step) -> TargetView | None:
        """Return the candidates for a step; None while a phrase has no vector."""
        mirror = self._context.facts.mirror
        view = TargetView() if mirror is None else self._context.targets.look(mirror, step)
        self._request_vectors(view.missing)
        return None if view.missing else view

    def scores(self, step: Step, entities: Mapping[int, Entity]) -> dict[int, float]:
        """Return entity id -> score for a step, for entities that are not in the scene."""
        mirror = self._context.facts.mirror
        return {} if mirror is None else self._context.targets.scores(mirror, step, entities)

    def fitting(self, run: DirectiveRun) -> list[Entity]:
        """Return the entities that match the step now, best first."""
        return self.accepted(self.look(run))

    def accepted(self, view: TargetView) -> list[Entity]:
        """Return the accepted entities that are still in the scene, best first."""
        return self._present(view.accepted)

    def matches(self, run: DirectiveRun, whole: SceneMirror | None = None) -> list[Entity] | None:
        """Return all entities that match the step; None while a phrase has no vector.

        whole: scene of all floors, if all count; None = the robot's floor.
        """
        mirror = whole or self._context.facts.mirror
        if whole is not None and run.step.graphs:
            everywhere = self._context.targets.look(whole, run.step)
            self._request_vectors(everywhere.missing)
            found = (whole.get(candidate.entity_id) for candidate in everywhere.accepted)
            return None if everywhere.missing else [entity for entity in found if entity is not None]
        if mirror is None:
            return []
        if not run.step.graphs:
            present = [e for e in mirror.entities.values() if e.state is not EntityState.ARCHIVED]
            rooms = [r.id for r in mirror.regions.values() if is_called(r, run.step.scope.labels)]
            inside = [e for e in present if not run.step.scope.rooms or e.region_id in rooms]
            return self._within(inside, run.step)
        view = self._view(run.step)
        return None if view is None else self._within(self.accepted(view), run.step)

    def seen_since(self, run: DirectiveRun, begun: Stamp) -> list[Entity]:
        """Return the entities that match the step and were observed after `begun`; [] while a phrase has no
        vector.
        """
        return [entity for entity in self.matches(run) or () if self._context.facts.last_seen(entity) > begun]

    def holds(self, step: Step, entity: Entity) -> bool | None:
        """Return whether the entity matches the step; None while a phrase has no vector."""
        view = self._view(step)
        return None if view is None else view.is_accepted(entity.id)

    def _within(self, entities: list[Entity], step: Step) -> list[Entity]:
        """Return the entities within the scope's radius around one of its anchor objects; all if the scope
        has no anchor.
        """
        around = step.scope.around
        if around is None:
            return entities
        centres = self.known(around)
        return [e for e in entities if any(_gap(e, c) <= step.scope.radius for c in centres if c.id != e.id)]

    def promising(self, run: DirectiveRun, view: TargetView) -> list[Entity]:
        """Return the entities of the right kind that do not meet the whole query, best first."""
        threshold = self._context.config.query.promising
        likely = [c for c in view.candidates if c.semantic_score >= threshold]
        likely = [c for c in likely if c.entity_id not in run.errand.excluded]
        return self._present(sorted(likely, key=lambda c: -c.semantic_score))

    def _present(self, candidates: Iterable[Candidate]) -> list[Entity]:
        entities = (self._context.facts.entity(c.entity_id) for c in candidates)
        return [entity for entity in entities if entity is not None]

    def _request_vectors(self, missing: tuple[str, ...]) -> None:
        """Request the vectors of these phrases, and repeat the request after `_ASK_AGAIN`."""
        now = self._context.now
        self._asked = {phrase: at for phrase, at in self._asked.items() if abs(now - at) < _ASK_AGAIN}
        new = tuple(phrase for phrase in missing if phrase not in self._asked)
        if new:
            self._context.commands.append(EmbedPhrases(new))
            self._asked |= dict.fromkeys(new, now)


def _gap(one: Entity, other: Entity) -> float:
    """Return the horizontal distance between two boxes, metres."""
    return float(box_distance(one.box_min[:2], one.box_max[:2], other.box_min[:2], other.box_max[:2]))
