"""Test that the diagnostics of two robots on a shared /diagnostics are not mixed up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from std_srvs.srv import Trigger

from integration.bed import Bed
from integration.commands import Command
from lodestar_ros import qos

PASSED, FAILED = "passed: it stood 0.20 s after StopMove", "FAILED: it still moved"


def told(namespace: str, result: str) -> DiagnosticStatus:
    """Return the diagnostic status with the result of a base's stop test."""
    status = DiagnosticStatus(level=DiagnosticStatus.WARN, name="go2_base", message=f"says {namespace}")
    status.hardware_id = f"/{namespace}/go2_base host 12 abc 30.00"
    status.values = [KeyValue(key="stop_test", value=result)]
    return status


@pytest.fixture
def robots(bed: Bed) -> Iterator[Callable[..., None]]:
    """Yield a function that publishes results of robots ten times a second, and serves robot1's stop test."""
    made: list[Callable[[], None]] = []

    def say(**results: str) -> None:
        def make() -> None:
            publisher = bed.node.create_publisher(DiagnosticArray, "/diagnostics", qos.EVENT)
            service = bed.node.create_service(
                Trigger,
                "/robot1/go2_base/test_stop",
                lambda request, response: Trigger.Response(success=True),
            )

            def tell() -> None:
                publisher.publish(DiagnosticArray(status=[told(*one) for one in results.items()]))

            timer = bed.node.create_timer(0.1, tell)
            made.extend(
                [
                    lambda: bed.node.destroy_timer(timer),
                    lambda: bed.node.destroy_service(service),
                    lambda: bed.node.destroy_publisher(publisher),
                ]
            )

        bed.on_executor(make)

    yield say
    for end in made:
        bed.on_executor(end)


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ({"robot1": FAILED, "robot2": PASSED}, 1),
        ({"robot1": PASSED, "robot2": FAILED}, 0),
        ({"robot2": PASSED}, 1),
    ],
)
def test_the_stop_of_one_robot_is_not_tried_with_the_result_of_another(
    robots: Callable[..., None], results: dict[str, str], status: int
) -> None:
    robots(**results)
    tried = Command("lodestar_go2.nodes.try_stop", "--namespace", "robot1")
    assert tried.ends() == status, tried.text
    assert results.get("robot1", "go2_base says nothing any more") in tried.text


def test_the_doctor_of_one_robot_does_not_pass_on_what_another_says(
    robots: Callable[..., None], bed: Bed
) -> None:
    robots(robot1=PASSED, robot2=PASSED)
    robot1 = Node("memory", namespace="robot1", context=bed.node.context, start_parameter_services=False)
    asked = Command("lodestar_ros.doctor", *("--namespace", "robot1", "--seconds", "8", "--json"))
    asked.ends()
    robot1.destroy_node()
    said = {finding["what"] for finding in json.loads(asked.text) if finding["check"] == "node_warns"}
    assert said == {"go2_base says: says robot1."}
