"""The thing that is probably meant although a neighbour that the directive names was never seen beside it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from lodestar.agent.facts.newest import Facts
from lodestar.experts.absence import AbsenceJudge
from lodestar.experts.searched_floor import SearchedFloor
from lodestar.language.directive import Step
from lodestar.language.query_graph import QueryGraph
from lodestar.models.category_priors import CategoryPriors
from lodestar.models.lexicon import load_lexicon
from lodestar.query.verdict import Candidate

ONLY_FIT_SURE = 0.6  # probability from which a candidate is taken for the target (ours)
ONLY_FIT_KEPT = 0.5  # probability down to which it stays; also where nothing is left to explore (ours)
# weight of the case that nothing is as the directive says, beside a candidate whose neighbours were surely overlooked
# (ours)
ONLY_FIT_WRONG = 0.05
ONLY_FIT_MOST = 4  # things that match by themselves, from more of which none is taken (ours)
ONLY_FIT_AROUND = 1.5  # m around a candidate within which a neighbour stands (ours)
ONLY_FIT_INTERVAL = 2.0  # s between two judgements (ours)
# relations to a neighbour that stands within ONLY_FIT_AROUND
_NEIGHBOURS = ("NextTo", "Near", "On", "Above", "Below", "Inside", "Between")


class OnlyFit:
    """Judges which thing is meant while no thing on the map meets the whole description.

    The directive says that one thing has the named neighbours. A candidate that matches by itself is that thing if
    its neighbours were overlooked. The probability of that competes with those of the other candidates, with things
    that were not found (as many as those found and the looks so far let expect), and with an error of the directive.
    """

    def __init__(self, priors: CategoryPriors) -> None:
        self._judge = AbsenceJudge(priors)
        self._key: tuple[Step, tuple[int, int]] | None = None
        self._judged, self._explored, self._found = -math.inf, False, 0

    def of(
        self,
        step: Step,
        errand: tuple[int, int],
        candidates: Sequence[Candidate],
        excluded: Collection[int],
        facts: Facts,
        searched: SearchedFloor,
        now: float,
        explored: bool,
        accept: float,
    ) -> Candidate | None:
        """Return the candidate that is probably meant; None if none is.

        errand: numbers of directive and errand. candidates: of the step, best first. excluded: ids of those that may
        not be chosen. explored: nothing is left to explore. accept: least score of what holds. Judged again after
        ONLY_FIT_INTERVAL.
        """
        fitting = [c for c in candidates if unmet_neighbours(c, step.graphs[c.reading], accept)]
        key = (step, errand)
        if self._key != key:
            self._found = 0
        if (
            self._key != key
            or explored != self._explored
            or not 0.0 <= now - self._judged < ONLY_FIT_INTERVAL
        ):
            self._key, self._explored, self._judged = key, explored, now
            self._found = self._judge_again(step, fitting, excluded, facts, searched, accept)
        return next((c for c in fitting if c.entity_id == self._found and self._found not in excluded), None)

    def _judge_again(
        self,
        step: Step,
        fitting: Sequence[Candidate],
        excluded: Collection[int],
        facts: Facts,
        searched: SearchedFloor,
        accept: float,
    ) -> int:
        """Return the entity that is probably meant; 0 = none."""
        one_kind = len({graph.target.category for graph in step.graphs}) == 1
        if not 0 < len(fitting) <= ONLY_FIT_MOST or not one_kind or len(facts.building.floors) > 1:
            return 0
        chances = self._chances(step, fitting, facts, searched, accept)
        best = max(fitting, key=lambda c: chances.get(c.entity_id, 0.0)).entity_id
        least = ONLY_FIT_KEPT if self._explored or best == self._found else ONLY_FIT_SURE
        return best if best not in excluded and chances.get(best, 0.0) >= least else 0

    def _chances(
        self, step: Step, fitting: Sequence[Candidate], facts: Facts, searched: SearchedFloor, accept: float
    ) -> dict[int, float]:
        """Return by entity id the probability that a candidate is the target."""
        belief, grid = self._judge.belief(step, facts, searched), facts.grid
        if belief is None or belief.missed >= 1.0 or grid is None:
            return {}
        overlooked = {}
        for one in fitting:
            entity = facts.entity(one.entity_id)
            if entity is not None:
                kinds = unmet_neighbours(one, step.graphs[one.reading], accept)
                beside = searched.missed_within(kinds, grid, entity, ONLY_FIT_AROUND)
                overlooked[one.entity_id] = max(beside, min(one.predicate_scores.values(), default=0.0))
        unseen = len(fitting) * belief.missed / (1.0 - belief.missed)
        total = sum(overlooked.values()) + unseen + ONLY_FIT_WRONG
        return {identity: chance / total for identity, chance in overlooked.items()}


def unmet_neighbours(candidate: Candidate, graph: QueryGraph, accept: float) -> list[str]:
    """Return the kinds of the neighbours that a candidate lacks; [] if it lacks none, or if anything else that the
    query says does not hold for it.
    """
    structure = load_lexicon().structure
    near = {  # by the names of `Candidate.predicate_scores`
        f"{p.name} {' and '.join(graph.variables[i].phrase for i in p.arguments[1:])}": [
            graph.variables[i].category for i in p.arguments[1:]
        ]
        for p in graph.predicates
        if p.arguments[0] == 0 and p.name in _NEIGHBOURS and not p.negated
    }
    unmet = [name for name, score in candidate.predicate_scores.items() if score < accept]
    kinds = [kind for name in unmet for kind in near.get(name, ())]
    sound = candidate.semantic_score >= accept and all(name in near for name in unmet)
    return kinds if sound and not any(kind in structure for kind in kinds) else []
