"""Test of the Go2 description with its profile and a simulated robot, from boot to a found chair."""

from __future__ import annotations

from pathlib import Path

import pytest
from waiting import PATIENCE, wait_for

from integration.rooms import room_with_a_chair
from integration.surroundings import PATIENT
from lodestar_bringup.places import StackError
from lodestar_eval.demo import session
from lodestar_eval.live import go2_run
from lodestar_eval.live.go2_run import Programs, run_beside

pytestmark = pytest.mark.alone

TIME_LIMIT = 150.0  # s, of the directive
#: For a machine that is slower than the robot: small images, and commands that may come late.
SLOW = {
    "sim": {"camera_width": 160, "camera_height": 120},
    "motion_gate": {"command_timeout": 2.0, "heartbeat_timeout": 2.0},
    "go2_base": {"base.command_timeout": 2.0, "base.guard_timeout": 4.0},
    "goal_selector": PATIENT,
}


def test_from_boot_to_a_found_chair_and_nobody_else_commands_the_robot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, bound in ((session, "_READY"), (go2_run, "_SOUND"), (go2_run, "_DOCTOR"), (go2_run, "_END")):
        monkeypatch.setattr(module, f"{bound}_TIMEOUT", PATIENCE)
    world = room_with_a_chair(tmp_path / "room.json")
    run = run_beside(str(world), 1, tmp_path / "run", TIME_LIMIT, "find the red chair", SLOW)
    assert run.success, run.verdict
    assert (run.strange, run.strangers) == (0, ())
    assert run.requests > 20 and run.path_length > 0.5, "it walked by sport requests"


def test_a_profile_that_cannot_be_used_ends_the_start_with_its_reason(tmp_path: Path, domain: int) -> None:
    with Programs(tmp_path, {"ROS_DOMAIN_ID": str(domain)}) as programs:
        programs.start("go2", "--slam", "none", "--navigator", "external", "--params-file", "no_such.yaml")
        death = wait_for(programs.deaths, "its end")[0]
    assert death.returncode == 2 and "no_such.yaml does not exist" in death.tail


def test_without_a_stand_in_the_run_says_what_has_not_come_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_READY_TIMEOUT", 1.0)
    with pytest.raises(StackError, match="these have not come up"):
        run_beside(
            str(room_with_a_chair(tmp_path / "room.json")),
            1,
            tmp_path / "run",
            TIME_LIMIT,
            "find the red chair",
        )
