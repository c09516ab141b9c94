"""Discrepancy between the expected and the observed state after an action (VLM-DEWM eq. C.5 to C.9).

Deterministic.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lodestar.scene.records import Entity
from lodestar.worldmodel.outcomes import ConstraintState, Discrepancy
from lodestar.worldmodel.records import Belief, Trace

# m from which an object counts as moved. The paper's 0.05 m is for an arm; boxes seen from afar err more
DRIFT = 0.3


def discrepancy(
    trace: Trace,
    actual: ConstraintState,
    holding: Sequence[Belief],
    before: Mapping[int, np.ndarray],
    now: Mapping[int, Entity],
    drift: float = DRIFT,
    had: Collection[Belief] = (),
) -> Discrepancy:
    """Return the discrepancy after an action.

    holding: current relations between the objects of the action, none negated. before: entity id -> (3,) mean
    when the action began, metres in map. now: the present entities. drift: metres from which an object has
    moved. had: relations that held when the action began, and so are not unexpected. An object that is gone
    has no drift; its expected relations count as missing.
    """
    expected = trace.expectation.beliefs or trace.beliefs
    present = set(holding)
    missing = tuple(b for b in expected if (_positive(b) in present) == b.negated)
    known = {_positive(belief) for belief in (*expected, *had)}
    drifts = []
    for identity, mean in sorted(before.items()):
        entity = now.get(identity)
        moved = 0.0 if entity is None else float(np.linalg.norm(np.asarray(entity.mean) - mean))
        if moved > drift:
            drifts.append((identity, moved))
    return Discrepancy(
        ConstraintState(trace.expectation.phase, trace.expectation.about),
        actual,
        missing,
        tuple(belief for belief in holding if belief not in known),
        tuple(drifts),
    )


def _positive(belief: Belief) -> Belief:
    return Belief(belief.predicate, belief.arguments)
