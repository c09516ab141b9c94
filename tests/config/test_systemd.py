"""Tests of the systemd unit: it starts existing programs, and stops all processes."""

from __future__ import annotations

import configparser
import re
import shlex

import declared

UNIT = declared.ROOT / "config" / "systemd" / "lodestar.service"


def test_it_starts_a_launch_file_that_exists_and_ends_it_with_sigint() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=False)  # units may repeat keys
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(UNIT.read_text())
    service = unit["Service"]
    found = re.search(r"ros2 launch lodestar_bringup (\S+\.launch\.py)", service["ExecStart"])
    assert found and (declared.ROOT / "launch" / found[1]).is_file()
    assert "exec ros2" in service["ExecStart"], "or the shell gets the signal instead"
    assert service["KillSignal"] == "SIGINT", "on SIGTERM ros2 launch leaves its nodes"
    assert service["KillMode"] == "mixed", "what is left after the time-out is killed too"
    assert int(service["TimeoutStopSec"]) > 20, "launch gives its nodes 20 s"


def test_it_has_the_environment_of_the_page() -> None:
    """The unit sets every variable exported in section 3 of the page, with the interface of the robot's cable."""
    given = dict(
        word.split("=", 1)
        for line in re.findall(r"^Environment=(.*)$", UNIT.read_text(), re.MULTILINE)
        for word in shlex.split(line)
    )
    page = (declared.ROOT / "docs" / "how-to" / "go2.md").read_text()
    section = page.split("## 3. The base")[1].split("\n## ")[0]
    exported = dict(re.findall(r"^export (\w+)='?(.*?)'?(?:\s+#.*)?$", section, re.MULTILINE))
    assert len(exported) == 3 and given == exported
