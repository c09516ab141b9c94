"""Tests that the decision loop's transitions match ARCHITECTURE.md, and that its parts are composed, not inherited."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import lodestar.agent
from lodestar.agent.activities.transitions import TRANSITIONS, IllegalTransition, Transitions
from lodestar.agent.errands.commands import State
from lodestar.agent.errands.context import make_context
from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.loop.machine import DecisionLoop
from lodestar.models.phrases import PhraseBook
from lodestar.selection.context import FEATURES
from lodestar.selection.linucb import LinUcb, LinUcbConfig

ROOT = Path(__file__).resolve().parents[2]


def documented() -> dict[str, tuple[frozenset[str], str]]:
    """Return transition -> (names of its source states, name of its target state), read from ARCHITECTURE.md."""
    section = (ROOT / "ARCHITECTURE.md").read_text().split("## The decision loop", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (\w+) \| ([A-Z, ]+) \| ([A-Z]+) \|", section, re.MULTILINE)
    return {name: (frozenset(sources.split(", ")), target) for name, sources, target in rows}


def test_the_table_in_the_documentation_is_the_table_in_the_code():
    code = {
        name: (frozenset(state.name for state in edge.sources), edge.target.name)
        for name, edge in TRANSITIONS.items()
    }
    assert documented() == code


def test_every_transition_is_a_method_and_no_other_code_sets_the_state():
    for name in TRANSITIONS:
        assert inspect.isfunction(getattr(Transitions, name)), name
    writers = [
        path.name
        for path in Path(lodestar.agent.__file__).parent.rglob("*.py")
        if re.search(r"\.state\s*=[^=]", path.read_text())
    ]
    assert writers == ["transitions.py"]


@pytest.fixture
def loop():
    experts = ("frontier",)
    policy = LinUcb(LinUcbConfig(), experts, FEATURES, np.random.default_rng(0))
    return DecisionLoop(make_context(LoopConfig(), policy, PhraseBook(), experts))


def test_every_state_has_one_object_and_only_running_states_may_finish(loop):
    assert set(loop._states) == set(State)
    assert {State.IDLE, State.HELD}.isdisjoint(TRANSITIONS["finish"].sources)
    reachable = {edge.target for edge in TRANSITIONS.values()}
    assert reachable == set(State), "a state that nothing leads to"


def test_a_transition_that_a_state_does_not_have_is_refused(loop):
    with pytest.raises(IllegalTransition, match="release is no transition of IDLE"):
        loop._transitions.release()
    assert loop.state is State.IDLE


def test_no_class_of_the_agent_inherits_through_more_than_two_of_our_own():
    for info in pkgutil.walk_packages(lodestar.agent.__path__, "lodestar.agent."):
        for name, kind in inspect.getmembers(importlib.import_module(info.name), inspect.isclass):
            own = [base for base in kind.__mro__ if base.__module__.startswith("lodestar")]
            assert len(own) <= 2, f"{name}: {[base.__name__ for base in own]}"
