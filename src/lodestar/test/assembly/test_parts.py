"""Tests that parts are made as configured."""

from __future__ import annotations

import pytest

from lodestar.assembly import parts
from lodestar.assembly.config import GoalSelectorConfig, RobotConfig, changed
from lodestar.assembly.robot import HeadlessRobot
from lodestar.language.grammar import parse_directive
from lodestar.language.parsers import ParserConfig
from lodestar.models.chat import ChatConfig
from lodestar.models.phrases import PhraseBook

NOBODY = ParserConfig(True, ChatConfig(base_url="http://127.0.0.1:9/v1", timeout=0.5, patience=1.0))


def test_no_model_reads_directives_unless_it_is_configured():
    assert parts.directive_model(GoalSelectorConfig()) is None


def test_a_model_that_is_not_there_leaves_directives_to_the_grammar():
    told: list[str] = []
    model = parts.directive_model(GoalSelectorConfig(parser=NOBODY), told.append)
    assert model is not None and model[0]("find the mug") == parse_directive("find the mug")
    assert len(told) == 1 and "the grammar reads the directive" in told[0]


def test_the_headless_robot_asks_the_model_that_is_configured(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "lodestar.language.model_directives.ModelDirectives.parse",
        lambda self, text: asked.append(text) or pytest.fail("asked"),
    )
    robot = HeadlessRobot(changed(RobotConfig(), shared__language_model=True), PhraseBook())
    with pytest.raises(pytest.fail.Exception):
        robot.start("find the mug", 0.0)
    assert asked == ["find the mug"]
