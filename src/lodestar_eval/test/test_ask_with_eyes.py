"""Tests of questions about a material in two furnished rooms, which only a robot with a vision model can answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from quick_episodes import EXACT, QUICK
from small_building import SINK, small_world

from lodestar_eval.ask_to_act import VISUAL, CheckQuestion, remembering, said_in, visual_questions_of
from lodestar_sim.worlds import world_from_spec

SETTINGS = replace(QUICK, time_limit=300.0, robot=EXACT)
START = (1.0, 1.0, 0.0)
MATERIAL = next(thing.material for thing in small_world().objects if thing.id == SINK)


@pytest.mark.parametrize(
    "said, eyes, expected", [(MATERIAL, True, True), ("paper", True, False), (MATERIAL, False, None)]
)
def test_what_no_detector_tells_is_answered_by_a_model_that_looks_alone(said, eyes, expected):
    pytest.importorskip("openai")
    question = CheckQuestion(f"is the white sink made of {said}?", VISUAL, (SINK,), said == MATERIAL)
    run = remembering(small_world(), question, START, 3, SETTINGS, eyes)
    assert said_in(run) is expected
    if eyes:
        (answer,) = run.result.answers
        assert "A model sees this" in answer.sentence and answer.confidence <= 0.5
    else:
        assert "cannot see whether" in run.result.error_msg


def test_a_building_has_three_visual_questions_true_and_false_and_they_follow_the_seed():
    world = world_from_spec("apartment", 711)
    questions = visual_questions_of(world, 711)
    assert [q.is_there for q in questions] == [True, False, True]
    assert questions == visual_questions_of(world, 711)
    things = {thing.id: thing for thing in world.objects}
    for q in questions:
        said = q.text.removesuffix("?").rsplit(" ", 1)[1]
        assert (things[q.target_ids[0]].material == said) is q.is_there
