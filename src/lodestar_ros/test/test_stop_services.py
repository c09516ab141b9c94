"""Answers of the services that hold and pause, without DDS."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from std_srvs.srv import SetBool

from lodestar_ros.nodes.goal_selector_node import GoalSelectorNode
from lodestar_ros.stop_services import StopServices


@pytest.mark.parametrize(
    ("directed", "skill", "paused", "said"),
    [
        (True, "", True, "paused: it stands until resumed"),
        (True, "Pick", True, "paused: it stands until resumed; Pick was stopped, and begins anew then"),
        (True, "", False, "resumed"),
        (False, "", True, "no directive runs"),
    ],
)
def test_a_pause_says_what_becomes_of_a_skill_and_never_waits(directed, skill, paused, said):
    served, done = {}, []
    node = SimpleNamespace(create_service=lambda kind, name, answer: served.update({name: answer}))
    status = SimpleNamespace(directed=directed, skill=skill)
    thread = SimpleNamespace(status=status, pause=lambda on: done.append(("pause", on)))
    StopServices(node, thread, None, None, lambda: done.append("stopped"))
    response = served["~/pause"](SetBool.Request(data=paused), SetBool.Response())
    assert (response.success, response.message) == (directed, said)
    assert done == [("pause", paused), *(["stopped"] if paused else [])], "it stops whatever it says"


@pytest.mark.parametrize("broken", ["passages", "heartbeat", "navigator", "skills", ""])
def test_the_goal_selector_stands_first_and_no_fault_keeps_the_others_from_their_stop(broken):
    done, errors = [], []

    def call(name):
        def stop():
            done.append(name)
            if name == broken:
                raise RuntimeError(name)

        return stop

    node = SimpleNamespace(
        _dispatcher=SimpleNamespace(passages=SimpleNamespace(stop=call("passages"))),
        _heartbeat=SimpleNamespace(beat=call("heartbeat")),
        _navigator=SimpleNamespace(cancel=call("navigator")),
        _skills=SimpleNamespace(stop=call("skills")),
        diagnostics=SimpleNamespace(error=lambda error: errors.append(str(error))),
    )
    node._each = lambda *calls: GoalSelectorNode._each(node, *calls)
    GoalSelectorNode._on_stop(node)
    assert done == ["passages", "heartbeat", "navigator", "skills"] and errors == [
        one for one in [broken] if one
    ]
