"""The discrepancy operator: what was expected against what is (VLM-DEWM eq. C.5 to C.9). Deterministic."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lodestar.scene.records import Entity
from lodestar.worldmodel.outcomes import ConstraintState, Discrepancy
from lodestar.worldmodel.records import Belief, Trace

DRIFT = (
    0.3  # m from which a thing has moved. The paper's 0.05 m is an arm's; boxes seen from afar err by more
)


def discrepancy(
    trace: Trace,
    actual: ConstraintState,
    holding: Sequence[Belief],
    before: Mapping[int, np.ndarray],
    now: Mapping[int, Entity],
    drift: float = DRIFT,
    had: Collection[Belief] = (),
) -> Discrepancy:
    """Return what differs after an action.

    holding: relations between the things that the action is about, as they are now; none of them negated. before:
    entity id -> (3,) mean when the action began, metres in map. now: the entities that are there. had: relations that
    held when it began, and so are not unexpected. A thing that is no longer there has no drift; the relations that it
    was expected to have are missing.
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
