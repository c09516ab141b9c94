"""The thing that is probably meant although a neighbour that the directive names was never seen beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lodestar.agent.facts.newest import Facts
from lodestar.experts.absence import AbsenceJudge
from lodestar.experts.searched_floor import SearchedFloor
from lodestar.experts.unseen_floor import wanted_neighbours
from lodestar.language.directive import Step
from lodestar.language.query_graph import QueryGraph
from lodestar.models.category_priors import CategoryPriors
from lodestar.query.verdict import Candidate

ONLY_FIT_SURE = 0.6  # probability from which a candidate is taken for the target (ours)
ONLY_FIT_KEPT = 0.5  # probability down to which it stays; also where nothing is left to explore (ours)
# weight of the case that nothing is as the directive says, beside a candidate whose neighbours were surely overlooked
# (ours)
ONLY_FIT_WRONG = 0.05
ONLY_FIT_AROUND = 1.5  # m around a candidate within which a neighbour stands (ours)
ONLY_FIT_INTERVAL = 2.0  # s between two judgements (ours)


class OnlyFit:
    """Judges which thing is meant while no thing on the map meets the whole description.

    The directive says that one thing has the named neighbours. A candidate that matches by itself is that thing if
    its neighbours were overlooked. The probability of that competes with those of the other candidates, with things
    that were not found (as many as those found and the looks so far let expect), and with an error of the directive.
    """

    def __init__(self, priors: CategoryPriors) -> None:
        self._judge = AbsenceJudge(priors)
        self._step: Step | None = None
        self._judged, self._explored = -math.inf, False
        self._found: Candidate | None = None

    def of(
        self,
        step: Step,
        candidates: Sequence[Candidate],
        facts: Facts,
        searched: SearchedFloor,
        now: float,
        explored: bool,
        accept: float,
    ) -> Candidate | None:
        """Return the candidate that is probably meant; None if none is.

        candidates: of the step, best first, without excluded ones. explored: nothing is left to explore. accept: least
        score of what holds. Judged again after ONLY_FIT_INTERVAL.
        """
        if step is not self._step:
            self._found = None
        if step is not self._step or explored != self._explored:
            self._step, self._explored, self._judged = step, explored, -math.inf
        if 0.0 <= now - self._judged < ONLY_FIT_INTERVAL:
            found = self._found
            return found if found is None or found.entity_id in {c.entity_id for c in candidates} else None
        self._judged = now
        before = 0 if self._found is None else self._found.entity_id
        self._found = None
        fitting = [c for c in candidates if _fits_alone(c, step.graphs[c.reading], accept)]
        if fitting and facts.grid is not None and len(facts.building.floors) < 2:
            chances = self._chances(step, fitting, facts, searched)
            best = max(fitting, key=lambda c: chances.get(c.entity_id, 0.0))
            is_late = explored or best.entity_id == before
            if chances.get(best.entity_id, 0.0) >= (ONLY_FIT_KEPT if is_late else ONLY_FIT_SURE):
                self._found = best
        return self._found

    def _chances(
        self, step: Step, fitting: Sequence[Candidate], facts: Facts, searched: SearchedFloor
    ) -> dict[int, float]:
        """Return by entity id the probability that a candidate is the target."""
        belief, grid = self._judge.belief(step, facts, searched), facts.grid
        if belief is None or belief.missed >= 1.0 or grid is None:
            return {}
        overlooked = {}
        for one in fitting:
            entity = facts.entity(one.entity_id)
            if entity is not None:
                kinds = wanted_neighbours(step.graphs[one.reading])
                beside = searched.missed_within(kinds, grid, entity, ONLY_FIT_AROUND)
                overlooked[one.entity_id] = max(beside, min(one.predicate_scores.values(), default=0.0))
        unseen = len(fitting) * belief.missed / (1.0 - belief.missed)
        total = sum(overlooked.values()) + unseen + ONLY_FIT_WRONG
        return {identity: chance / total for identity, chance in overlooked.items()}


def _fits_alone(candidate: Candidate, graph: QueryGraph, accept: float) -> bool:
    """Return whether all that a query says holds for a candidate, apart from neighbours that were not found."""
    near = {
        p.name for p in graph.predicates if p.arguments[0] == 0 and max(p.arguments) > 0 and not p.negated
    }
    unmet = [name for name, score in candidate.predicate_scores.items() if score < accept]
    return candidate.semantic_score >= accept and bool(unmet) and all(n.split()[0] in near for n in unmet)
