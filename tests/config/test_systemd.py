"""The systemd unit starts what exists, and stops it so that nothing is left."""

from __future__ import annotations

import configparser
import re

import declared

UNIT = declared.ROOT / "config" / "systemd" / "lodestar.service"


def test_it_starts_a_launch_file_that_exists_and_ends_it_with_sigint() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(UNIT.read_text())
    service = unit["Service"]
    found = re.search(r"ros2 launch lodestar_bringup (\S+\.launch\.py)", service["ExecStart"])
    assert found and (declared.ROOT / "launch" / found[1]).is_file()
    assert "exec ros2" in service["ExecStart"], "or the shell gets the signal instead"
    assert service["KillSignal"] == "SIGINT", "on SIGTERM ros2 launch leaves its nodes"
    assert service["KillMode"] == "mixed", "what is left after the time-out is killed too"
    assert int(service["TimeoutStopSec"]) > 20, "launch gives its nodes 20 s"
