"""Tests of the egocentric expert, which goes to objects in view, and turns to unseen directions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from expert_worlds import Block, furnished, photograph, red_chair, request, thing

from lodestar.experts.egocentric import EgocentricConfig, EgocentricExpert
from lodestar.experts.lifted_detections import lift
from lodestar.experts.protocol import ActionKind, Proposal, RejectionReason
from lodestar.experts.turn_memory import TurnMemory
from lodestar.grid.success_pose import is_facing
from lodestar.models.phrases import PhraseBook
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import SceneDelta

POSE = (2.0, 4.0, 0.0)
CHAIR = Block(5.0, 4.0, "chair", "red chair")


def expert_at(pose, *blocks, entities=(), **changes) -> EgocentricExpert:
    expert = EgocentricExpert(EgocentricConfig(), PhraseBook())
    expert.set_grid(furnished(*(thing(i, b.x, b.y, b.caption) for i, b in enumerate(blocks, 1))))
    mirror = SceneMirror()
    mirror.apply(SceneDelta(0.0, 1, 0, tuple(entities)))
    expert.set_scene(mirror)
    expert.set_view(*photograph(pose, *blocks, **changes))
    return expert


def test_lifting_puts_a_mask_where_the_thing_is():
    (lifted,) = lift(*photograph(POSE, CHAIR))
    assert math.dist(lifted.center[:2], (4.75, 4.0)) < 0.1  # the centre of its near face
    assert (lifted.box_max - lifted.box_min)[1] < 0.6
    assert abs(lifted.bearing) < 0.05


def test_lifting_takes_no_invalid_depth_and_no_unlike_images():
    frame, segmented = photograph(POSE, CHAIR)
    for bad in (0.0, np.nan, np.inf):
        depth = np.full_like(frame.depth, bad)
        assert lift(replace(frame, depth=depth), segmented) == []
    assert lift(replace(frame, depth=frame.depth[::2, ::2]), segmented) == []


def test_it_goes_to_the_match_in_view():
    expert = expert_at(POSE, CHAIR, Block(5.0, 5.5, "plant", "green plant"))
    proposal = expert.propose(request(POSE, red_chair()))
    assert isinstance(proposal, Proposal) and proposal.action is ActionKind.GO
    assert is_facing(proposal.goal, np.array([4.75, 3.75, 0.0]), np.array([5.25, 4.25, 0.5]))
    assert proposal.confidence >= 0.6 and "I see a red chair" in proposal.rationale
    assert proposal.goal[0] < 4.75  # on the robot's side of the object


def test_a_chair_of_another_colour_is_no_match():
    answer = expert_at(POSE, Block(5.0, 4.0, "chair", "blue chair")).propose(request(POSE, red_chair()))
    assert answer.action is not ActionKind.GO


def test_what_is_known_is_named_and_what_is_excluded_is_left_alone():
    known = thing(42, 5.0, 4.0, "red chair")
    expert = expert_at(POSE, CHAIR, entities=(known,))
    assert expert.propose(request(POSE, red_chair())).entity_id == 42
    excluded = expert.propose(request(POSE, red_chair(), excluded_entities=frozenset({42})))
    assert excluded.action is not ActionKind.GO


def test_it_turns_at_most_three_times_at_a_place_and_never_where_it_has_looked():
    pose, headings = np.array(POSE), []
    expert = expert_at(POSE)
    for _ in range(6):
        answer = expert.propose(request(pose, red_chair()))
        if not isinstance(answer, Proposal):
            break
        assert answer.action is not ActionKind.GO and answer.confidence < 0.3
        assert np.allclose(answer.goal[:2], pose[:2])
        for old in headings:
            assert abs((answer.goal[2] - old + math.pi) % (2 * math.pi) - math.pi) > math.radians(30.0)
        pose = answer.goal
        headings.append(pose[2])
        expert.set_view(*photograph(pose))
    assert answer.reason is RejectionReason.NO_PROPOSAL
    assert 1 <= len(headings) <= 3


def test_a_turn_that_is_not_made_is_no_step_of_the_horizon():
    expert = expert_at(POSE)
    asked = [expert.propose(request(POSE, red_chair())) for _ in range(6)]
    assert all(isinstance(answer, Proposal) for answer in asked)


def test_three_turns_that_were_made_at_a_place_are_the_horizon(monkeypatch):
    monkeypatch.setattr("lodestar.experts.turn_memory.TURN_LOOKED_ANGLE", math.radians(5.0))
    turns, heading = TurnMemory(), 0.0
    for made in range(3):
        assert turns.fresh(np.array([1.0, 1.0, heading])), made
        heading += math.radians(75.0)
        turns.propose(heading)
        turns.looked(1.1, 1.0, heading - math.radians(8.0))
        turns.looked(1.1, 1.0, heading - math.radians(1.0))  # still within the same turn
    assert turns.fresh(np.array([1.0, 1.0, heading])) == ()
    assert turns.fresh(np.array([4.0, 1.0, heading])), "at another place it begins anew"


def test_it_turns_to_the_more_open_side():
    for side, action in ((slice(0, 53), ActionKind.TURN_RIGHT), (slice(107, 160), ActionKind.TURN_LEFT)):
        frame, segmented = photograph(POSE)
        depth = frame.depth.copy()
        depth[:, side] = 0.6
        expert = expert_at(POSE)
        expert.set_view(replace(frame, depth=depth), segmented)
        assert expert.propose(request(POSE, red_chair())).action is action


def test_a_match_that_cannot_be_faced_is_a_reasoned_rejection_when_there_is_nowhere_to_turn():
    expert = expert_at(POSE, CHAIR)
    for yaw in np.arange(0.0, 2 * math.pi, 0.5):
        expert.set_view(*photograph((*POSE[:2], yaw)))
    expert.set_view(*photograph(POSE, CHAIR))
    grid = furnished()
    grid.cells[:, 30] = 100  # a wall between robot and object
    expert.set_grid(grid)
    rejection = expert.propose(request(POSE, red_chair()))
    assert rejection.reason is RejectionReason.NO_VIEWPOINT and "red chair is in view" in rejection.message


def test_old_images_and_missing_facts_are_no_data():
    expert = EgocentricExpert(EgocentricConfig(), PhraseBook())
    assert expert.propose(request(POSE, red_chair())).reason is RejectionReason.NO_DATA
    assert expert.describe() is None
    old = expert_at(POSE, CHAIR, stamp=1.0)
    assert old.propose(request(POSE, red_chair())).reason is RejectionReason.NO_DATA
    assert expert_at(POSE, CHAIR).propose(request(POSE)).reason is RejectionReason.NO_PROPOSAL


def test_images_that_come_late_are_dropped():
    expert = expert_at(POSE, CHAIR)
    expert.set_view(*photograph(POSE, stamp=5.0))
    assert "red chair" in expert.describe().text


def test_it_describes_what_is_in_view_nearest_first():
    expert = expert_at(POSE, Block(6.5, 5.5, "plant", "green plant"), CHAIR)
    description = expert.describe()
    assert description.text.index("red chair") < description.text.index("green plant")
    assert "ahead" in description.text and "to the left" in description.text
    assert [p.number for p in description.points] == list(range(1, len(description.points) + 1))
    assert all(p.score == -1.0 for p in description.points)
    expert.propose(request(POSE, red_chair()))
    assert expert.describe().points[0].score >= 0.6
    assert expert_at(POSE).describe().text.startswith("Nothing")
