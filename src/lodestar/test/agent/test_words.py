"""Tests of the loop's sentences to a person beside the robot."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.agent.errands.words import going, nearest_in_words, why_not
from lodestar.experts.protocol import Proposal
from lodestar.query.verdict import Candidate
from lodestar.scene.records import Entity

PLANT = Entity(4, "plant", "tall plant", np.zeros(3), np.eye(3), np.zeros(3), np.ones(3))


def proposal(rationale: str, entity_id: int = 4) -> Proposal:
    return Proposal("semantic_map", 1, np.zeros(3), 0.9, rationale, entity_id)


@pytest.mark.parametrize(
    ("rationale", "entity", "accepted", "said"),
    [
        ("going to the tall plant (entity 4), 2.5 m away: it is green", PLANT, True,
         "This may be it: going to the tall plant (entity 4), 2.5 m away: it is green."),
        ("going closer to the tall plant (entity 4), 2.5 m away", PLANT, False,
         "Going closer to the tall plant (entity 4), 2.5 m away."),
        # ends with the text of a model
        ("green leaves.", PLANT, False, "Going to a tall plant (entity 4): green leaves."),
        ("exploring", None, False, "Exploring."),
        ("exploring", None, True, "Exploring."),
        ("two\nlines\x07", None, False, "Two lines."),
    ],
)  # fmt: skip
def test_where_it_goes_and_why(rationale, entity, accepted, said):
    assert going(proposal(rationale), entity, accepted) == said


def test_what_is_not_it_is_named_once():
    assert (
        why_not(PLANT, "tall plant: is a plant, not red")
        == "a tall plant (entity 4) is not it: it is a plant, not red"
    )
    assert why_not(PLANT, "") == "a tall plant (entity 4) is not it"
    found = Candidate(4, 0.412, 0.5, explanation="tall plant: may be a chair")
    assert (
        nearest_in_words([found], {4: PLANT}, 3) == "a tall plant (entity 4), score 0.41: it may be a chair"
    )
