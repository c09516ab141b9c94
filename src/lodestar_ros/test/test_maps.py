"""Tests of the command that saves, loads and exports a map, with a fake server."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from rclpy.task import Future

from lodestar_interfaces.action import LoadMap
from lodestar_ros import maps


class Server:
    """Fake action client; the server's answer to the goal is lost, its feedback arrives."""

    def __init__(self, node, action_type, name):
        self.result = Future()
        self.result.set_result(SimpleNamespace(result=action_type.Result(entity_count=3), status=4))

    def wait_for_server(self, seconds):
        return True

    def send_goal_async(self, goal, feedback_callback, goal_uuid):
        self.feedback = feedback_callback
        return Future()

    def _get_result_async(self, handle):
        return self.result


def test_a_goal_whose_answer_is_lost_is_waited_for(monkeypatch, capsys):
    made = []
    monkeypatch.setattr(maps, "ActionClient", lambda *given: made.append(Server(*given)) or made[0])
    monkeypatch.setattr(maps, "_SILENCE", 2.0)

    def wait(node, future, seconds):
        made[0].feedback(SimpleNamespace(feedback=None))
        return future.done()

    monkeypatch.setattr(maps, "wait", wait)
    assert maps._run(None, "load", LoadMap, LoadMap.Goal(path="/map")) == 0
    assert "3 entities loaded from /map" in capsys.readouterr().out
