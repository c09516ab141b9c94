"""The description of a Go2 with its own profile, beside a computer that plays the robot: from boot to a found chair."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.rooms import room_with_a_chair
from lodestar_eval.live.go2_run import Programs, StackFailed, run_beside

pytestmark = pytest.mark.alone

TIME_LIMIT = 150.0  # s


@pytest.mark.timeout(420)
def test_from_boot_to_a_found_chair_and_nobody_else_commands_the_robot(tmp_path: Path) -> None:
    world = room_with_a_chair(tmp_path / "room.json")
    run = run_beside(str(world), 1, tmp_path / "run", TIME_LIMIT, "find the red chair")
    assert run.success, run.verdict
    assert (run.strange, run.strangers) == (0, ())
    assert run.requests > 20 and run.path_length > 0.5, "it walked by sport requests"


def test_a_profile_that_cannot_be_used_ends_the_start_with_its_reason(tmp_path: Path) -> None:
    with Programs(tmp_path, 19) as programs:
        programs.start("go2", "--slam", "none", "--navigator", "external", "--params-file", "no_such.yaml")
        death = None
        while death is None:
            death = next(iter(programs.deaths()), None)
    assert death.returncode == 2 and "no_such.yaml does not exist" in death.tail


def test_without_a_stand_in_the_run_says_what_has_not_come_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lodestar_eval.demo import session

    monkeypatch.setattr(session, "_READY_TIMEOUT", 1.0)
    with pytest.raises(StackFailed, match="these have not come up"):
        run_beside(
            str(room_with_a_chair(tmp_path / "room.json")),
            1,
            tmp_path / "run",
            TIME_LIMIT,
            "find the red chair",
        )
