"""Tests that a fourth expert can be added as in docs/how-to/extend.md, with the code from that page.

An expert changes: `experts/beacon.py` (new), `experts/config.py`, `experts/registry.py`, and one row of
docs/interfaces.md. Its test and the line in the changelog come on top. `test_no_other_file_names_an_expert` holds
the number down.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import declared
import numpy as np
import pytest

from lodestar.agent.errands.commands import RequestProposals, SendGoal
from lodestar.assembly.config import GoalSelectorConfig, RobotConfig, changed
from lodestar.assembly.parts import expert
from lodestar.assembly.profiles import ProfileError, read_profiles
from lodestar.assembly.range_turns import ScannerTurn
from lodestar.assembly.robot import HeadlessRobot
from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.experts.registry import FRONTIER, expert_names, expert_spec, experts, register, registered
from lodestar.experts.specs import ExpertSpec, Role
from lodestar.language.grammar import parse_directive
from lodestar.models.phrases import PhraseBook
from lodestar.selection.linucb import ForeignState
from lodestar.selection.policies import policy_of

PAGE = declared.ROOT / "docs" / "how-to" / "extend.md"
BEAMS = 360


def code_of_the_page() -> ModuleType:
    """Return the Python of the page's section on experts, its blocks in their order as one module."""
    module = ModuleType("beacon_of_the_page")
    sys.modules[module.__name__] = module  # dataclasses look there for the types of their fields
    section = PAGE.read_text().split("\n## An expert\n")[1].split("\n## ")[0]
    for block in re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), module.__dict__)
    return module


@pytest.fixture
def beacon() -> Iterator[ExpertSpec]:
    with registered(code_of_the_page().BEACON) as spec:
        yield spec


def robot_in_a_round_room(**changes: Any) -> HeadlessRobot:
    """Return a headless robot that knows the floor within 3 m."""
    robot = HeadlessRobot(changed(RobotConfig(), mapping__source="scan", **changes), PhraseBook())
    angles = -np.pi, 2.0 * np.pi / BEAMS
    robot.map.take_turn(ScannerTurn(1.0, np.full(BEAMS, 3.0), angles, 20.0, np.eye(4), np.eye(4), np.eye(4)))
    robot.take_pose(np.zeros(3), 1.0)
    return robot


def request() -> ProposalRequest:
    return ProposalRequest(1, 1.0, parse_directive("find the mug"), 0, np.zeros(3))


def test_it_is_assembled_from_its_part_of_the_configuration(beacon: ExpertSpec) -> None:
    robot = robot_in_a_round_room(experts__beacon_expert__place=(0.5, 1.0))
    assert list(robot.experts) == ["frontier", "semantic_map", "ego_vlm", "beacon"]
    answer = robot.propose("beacon", request())
    assert isinstance(answer, Rejection) and answer.reason is RejectionReason.NO_DATA, "no grid was given yet"
    robot.tick(1.1)
    answer = robot.propose("beacon", request())
    assert isinstance(answer, Proposal) and answer.goal[:2].tolist() == [0.5, 1.0]
    away = robot_in_a_round_room(experts__beacon_expert__place=(90.0, 0.0))
    away.tick(1.1)
    assert isinstance(away.propose("beacon", request()), Rejection)


@pytest.mark.parametrize("policy", ["beacon", "bandit", "fixed", "round_robin"])
def test_it_is_asked_and_its_goal_is_driven_to(beacon: ExpertSpec, policy: str) -> None:
    robot = robot_in_a_round_room(goal_selector__selection__policy=policy)
    robot.start("find the mug", 1.0)
    asked: list[str] = []
    for tick in range(1, 60):
        now = 1.0 + tick / 10.0
        for command in robot.tick(now):
            if isinstance(command, RequestProposals):
                asked += command.experts
                for name in command.experts:  # only one expert has a proposal
                    answer = robot.propose(name, command.request)
                    if name != "beacon":
                        answer = Rejection(
                            name, command.request.epoch, RejectionReason.NO_PROPOSAL, "nothing"
                        )
                    robot.loop.on_answer(answer)
            if isinstance(command, SendGoal):
                assert {"frontier", "beacon"} <= set(asked)
                assert command.goal[:2].tolist() == [1.5, 0.0]
                return
    raise AssertionError("no goal was sent")


def test_the_prior_of_its_spec_is_what_the_bandit_expects_of_it(beacon: ExpertSpec) -> None:
    config = GoalSelectorConfig()
    policy: Any = policy_of(config.selection, config.policy, config.experts, np.random.default_rng(0))
    assert policy.arms == expert_names() == (*(s.name for s in experts()),)
    weights = dict(zip(policy.names, policy.weights[policy.arms.index("beacon")]))
    assert {name: weights[name] for name in beacon.prior} == pytest.approx(dict(beacon.prior))
    assert weights["coverage"] == 0.0


def test_a_state_that_was_learned_without_it_is_refused_and_the_three_go_on_alone() -> None:
    config = GoalSelectorConfig()
    three: Any = policy_of(config.selection, config.policy, config.experts, np.random.default_rng(0))
    with registered(code_of_the_page().BEACON):
        four: Any = policy_of(
            config.selection, config.policy, GoalSelectorConfig().experts, np.random.default_rng(0)
        )
        with pytest.raises(ForeignState, match="beacon"):
            four.restore(three.state())
        again: Any = policy_of(config.selection, config.policy, config.experts, np.random.default_rng(0))
        again.restore(three.state())
        assert GoalSelectorConfig(experts=("frontier", "beacon")).experts == ("frontier", "beacon")
    with pytest.raises(ValueError, match="beacon"):
        GoalSelectorConfig(experts=("frontier", "beacon"))


def test_a_profile_sets_its_parameters(beacon: ExpertSpec, tmp_path) -> None:
    profile = tmp_path / "own.yaml"
    profile.write_text("/**/beacon_expert:\n  ros__parameters:\n    place: [2.0, 1.0]\n")
    assert read_profiles([profile]).experts["beacon_expert"].place == (2.0, 1.0)
    profile.write_text("/**/beacon_expert:\n  ros__parameters:\n    place: far\n")
    with pytest.raises(ProfileError, match="place"):
        read_profiles([profile])


def test_it_is_launched_with_its_topics_and_its_name(beacon: ExpertSpec) -> None:
    from lodestar_bringup.options import StackOptions
    from lodestar_bringup.stack import stack

    loud = replace(
        beacon, name="horn", publishes=("honks",), recorded=("honks",), shown={"place": [0.0, 0.0]}
    )
    with registered(loud):
        specs = {spec.name: spec for spec in stack("sim", StackOptions(operator=True))}
        quiet = {spec.name: spec for spec in stack("go2")}
    assert specs["beacon_expert"].executable == "expert" and specs["beacon_expert"].restart
    assert {name for name in specs if name.endswith("_expert")} == {
        "frontier_expert", "semantic_map_expert", "ego_vlm_expert", "beacon_expert", "horn_expert",
    }  # fmt: skip
    assert ("honks", "horn_expert/honks") in specs["goal_selector"].remappings
    assert (
        specs["horn_expert"].parameters["place"] == [0.0, 0.0]
        and "place" not in quiet["horn_expert"].parameters
    )


def test_the_doctor_misses_it_and_markers_and_recordings_know_it(beacon: ExpertSpec) -> None:
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    from sound_stack import sound

    from lodestar_ros.doctor import graph_checks
    from lodestar_ros.markers import decision_markers
    from lodestar_ros.recorded_names import recorded

    seen = sound()
    assert list(graph_checks.nodes(seen)) == []
    del seen.nodes["/beacon_expert"]
    (finding,) = graph_checks.nodes(seen)
    assert finding.check == "missing_node" and "beacon_expert" in finding.what
    proposal = Proposal("beacon", 1, np.zeros(3), 0.9, "the beacon")
    arrow = next(m for m in decision_markers(None, [(proposal, True)], (), 1.0) if m.ns == "proposals")
    assert (arrow.color.r, arrow.color.g, arrow.color.b) == pytest.approx(beacon.color)
    with registered(replace(beacon, name="horn", publishes=("honks",), recorded=("honks",))):
        assert "honks" in recorded()
    assert "honks" not in recorded()


def test_the_benchmarks_have_a_row_and_a_colour_for_it(beacon: ExpertSpec) -> None:
    from lodestar_eval.maps import expert_colors
    from lodestar_eval.trials import core_rows, policy_named

    assert "beacon" in core_rows() and expert_colors()["beacon"] == beacon.color
    assert policy_named("beacon", {})(np.random.default_rng(0)).arms == ("beacon",)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": "frontier"}, "already"),
        ({"name": "Beacon 2"}, "lower-case"),
        ({"roles": frozenset({Role.EXPLORER})}, "one holder"),
        ({"publishes": ("frontiers",)}, "frontiers"),
        ({"recorded": ("honks",)}, "recorded"),
        ({"config": dict}, "dataclass"),
        ({"color": (1.0, 2.0, 0.0)}, "color"),
        ({"turns": 0}, "turns"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(change: dict[str, Any], why: str) -> None:
    before = experts()
    with pytest.raises(ValueError, match=why):
        register(replace(code_of_the_page().BEACON, **change))
    assert experts() == before


def test_an_expert_that_goes_by_another_name_than_its_spec_is_not_made() -> None:
    spec = replace(code_of_the_page().BEACON, name="horn")
    with pytest.raises(ValueError, match="calls itself 'beacon'"):
        expert(spec)
    with pytest.raises(KeyError, match="frontier"):
        expert_spec("horn")
    with pytest.raises(TypeError, match="horn_expert"):
        RobotConfig(experts={"horn_expert": spec.config()})


#: Product files that may name an expert, because they belong to it.
_ITS_OWN = re.compile(
    r"lodestar/experts/|_expert_node\.py|"
    r"assembly/profiles\.py|"  # contains former names of parameters
    r"lodestar_eval/(studies/coverage|reference|exploration)\.py"  # studies of the frontier expert
)


def test_no_other_file_names_an_expert() -> None:
    names = {name for spec in (FRONTIER, *experts()) for name in (spec.name, spec.node)}
    found = []
    for package in sorted((declared.ROOT / "src").glob("lodestar*")):
        for path in sorted((package / package.name).rglob("*.py")):
            if _ITS_OWN.search(str(path)):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and node.value in names:
                    found.append(f"{path.relative_to(declared.ROOT)}:{node.lineno} {node.value!r}")
    assert found == [], "read the registry instead"
