"""Tests of slow experts: which are asked, which are waited for, and which late answers still count."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FakeMirror, entity, find, proposal, room

from lodestar.agent.decisions.requests import Asked, HeardAnswer, Requests, late_objection
from lodestar.agent.facts.config import LOOP_THINKING_PATIENCE, LoopConfig
from lodestar.agent.facts.newest import Facts, Odometer
from lodestar.experts.protocol import ActionKind, Proposal, ProposalRequest, Rejection, RejectionReason

BOTH = ("frontier", "semantic_map")
HERE = np.array([2.0, 2.0, 0.0])
STALL = -20.0  # s by which the stamps lag behind the loop's time, on which nothing may depend


def request(epoch: int, stamp: float, **changes) -> ProposalRequest:
    facts = {
        "deadline": stamp + LoopConfig().expert_deadline,
        "directive": find(),
        "step_index": 0,
        "robot_pose": HERE,
    }
    return ProposalRequest(epoch, stamp, **{**facts, **changes})


def says(expert: str, epoch: int) -> Proposal:
    return replace(proposal(5.0, 5.0), expert=expert, epoch=epoch)


def holds(heard: HeardAnswer) -> str:
    return ""


def test_who_is_slow_is_not_waited_for_and_not_asked_twice():
    requests = Requests(LoopConfig().expert_deadline)
    assert requests.open(request(1, 0.0 + STALL), BOTH, 0.0, {}) == BOTH
    requests.hear(says("frontier", 1), 0.1)
    assert not requests.is_due(1.0), "the deadline is not over yet"
    assert requests.is_due(3.5)
    assert set(requests.take(3.5, holds)) == {"frontier"}
    assert requests.open(request(2, 5.0 + STALL), BOTH, 5.0, {}) == ("frontier",), "the other still thinks"
    requests.hear(says("frontier", 2), 5.1)
    assert requests.is_due(5.1)


def test_who_looks_is_waited_for_unless_another_s_answer_is_sure():
    requests, heard, asked = Requests(LoopConfig().expert_deadline), [], (*BOTH, "ego_vlm")

    def is_sure(proposals: list[Proposal]) -> bool:
        heard.append([one.expert for one in proposals])
        return "semantic_map" in heard[-1]

    requests.open(request(1, STALL), asked, 0.0, {})
    requests.hear(says("frontier", 1), 0.1)
    assert not requests.is_due(1.0, is_sure) and heard == [], "it may wait for another's answer too"
    requests.hear(says("semantic_map", 1), 1.1)
    assert requests.is_due(1.2, is_sure) and requests.is_due(1.3, is_sure)
    assert heard == [["frontier", "semantic_map"]], "judged once"


def test_without_a_sure_answer_who_looks_is_waited_for():
    requests = Requests(LoopConfig().expert_deadline)
    requests.open(request(1, STALL), ("frontier", "ego_vlm"), 0.0, {})
    requests.hear(says("frontier", 1), 0.1)
    assert not requests.is_due(3.0, lambda proposals: False)
    requests.hear(says("ego_vlm", 1), 3.1)
    assert requests.is_due(3.1, lambda proposals: False)


def test_a_late_answer_counts_once_in_the_next_epoch():
    requests = Requests(LoopConfig().expert_deadline)
    requests.open(request(1, 0.0 + STALL), BOTH, 0.0, {})
    requests.hear(says("frontier", 1), 0.1)
    requests.take(3.5, holds)
    requests.close()
    requests.hear(says("semantic_map", 1), 20.0)
    assert requests.open(request(2, 21.0 + STALL), BOTH, 21.0, {}) == BOTH
    requests.hear(says("frontier", 2), 21.1)
    assert requests.is_due(21.1), "it was slow, so that it is not waited for"
    answers = requests.take(21.1, holds)
    assert answers["semantic_map"].epoch == 1 and answers["frontier"].epoch == 2
    requests.open(request(3, 22.0 + STALL), ("frontier",), 22.0, {})
    requests.hear(says("frontier", 3), 22.1)
    assert set(requests.take(22.1, holds)) == {"frontier"}


def test_who_answers_in_time_again_is_waited_for_again():
    requests = Requests(LoopConfig().expert_deadline)
    requests.open(request(1, 0.0 + STALL), BOTH, 0.0, {})
    requests.take(3.5, holds)
    assert requests.slow == set(BOTH)
    for name in BOTH:
        requests.hear(says(name, 1), 3.0)
    requests.open(request(2, 4.0 + STALL), BOTH, 4.0, {})
    for name in BOTH:
        requests.hear(says(name, 2), 4.2)
    assert requests.slow == set()


def test_who_never_answers_is_asked_anew_when_patience_is_over():
    requests = Requests(LoopConfig().expert_deadline)
    requests.open(request(1, 0.0 + STALL), BOTH, 0.0, {})
    assert (
        requests.open(
            request(2, LOOP_THINKING_PATIENCE - 1.0 + STALL), BOTH, LOOP_THINKING_PATIENCE - 1.0, {}
        )
        == ()
    )
    assert (
        requests.open(
            request(3, LOOP_THINKING_PATIENCE + 1.0 + STALL), BOTH, LOOP_THINKING_PATIENCE + 1.0, {}
        )
        == BOTH
    )
    requests.hear(says("frontier", 1), 100.0)
    assert not requests.take(100.0, holds), "the old question is nobody's any more"


def test_a_late_answer_that_no_longer_holds_is_a_rejection_with_the_reason():
    requests = Requests(LoopConfig().expert_deadline)
    requests.open(request(1, 0.0 + STALL), BOTH, 0.0, {})
    requests.close()
    requests.hear(says("semantic_map", 1), 20.0)
    requests.open(request(2, 21.0 + STALL), BOTH, 21.0, {})
    answer = requests.take(21.0, lambda late: "late: gone")["semantic_map"]
    assert isinstance(answer, Rejection) and answer.message == "late: gone"
    assert answer.reason is RejectionReason.DEADLINE and answer.epoch == 2


WALL = proposal(0.05, 5.0)


@pytest.mark.parametrize(
    ("answer", "facts", "why"),
    [
        (proposal(5.0, 5.0), {}, ""),
        (proposal(5.0, 5.0, entity_id=7), {}, ""),
        (proposal(5.0, 5.0), {"step_index": 1}, "another step"),
        (proposal(5.0, 5.0), {"now": 100.0}, "100 s ago"),
        (proposal(5.0, 5.0, entity_id=8), {}, "entity 8 is not there any more"),
        (WALL, {}, "not free any more"),
        (proposal(2.0, 2.0, 1.3, action=ActionKind.TURN_LEFT), {}, ""),
        (proposal(2.0, 2.0, 1.3, action=ActionKind.TURN_LEFT), {"pose": np.array([2.0, 2.0, 2.0])}, "moved on"),
        (proposal(2.0, 2.0, 1.3, action=ActionKind.TURN_LEFT), {"pose": np.array([3.0, 2.0, 0.0])}, "moved on"),
        (proposal(5.0, 5.0, view=9.0), {}, ""),
        (proposal(5.0, 5.0, view=9.0), {"pose": np.array([2.0, 2.0, 1.0])}, "since the image was taken"),
        (proposal(5.0, 5.0, view=9.0), {"pose": np.array([3.0, 2.0, 0.0])}, "since the image was taken"),
        (Rejection("a", 1, RejectionReason.EXPLORED, "all seen"), {}, "had nothing (all seen)"),
        (proposal(math.nan, 5.0), {}, ""),
    ],
)  # fmt: skip
def test_what_a_late_answer_must_still_meet(answer, facts, why):
    given = {"now": 20.0, "step_index": 0, "pose": HERE, **facts}
    known = Facts(Odometer(LoopConfig()), pose=given.pop("pose"), grid=room(), mirror=FakeMirror())
    known.mirror.put(entity(7, 5.0, 5.0))
    late = HeardAnswer(Asked(request(1, STALL), 0.0), answer)
    reason = late_objection(late, facts=known, **given)
    assert (why in reason) if why else reason == ""
