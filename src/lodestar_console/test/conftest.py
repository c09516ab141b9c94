"""Fixtures: a scripted console per module, in its own folder; each test finds it at the start."""

import pytest
from scripted_robot.console import ScriptedConsole

from lodestar_console.web.console import ConsoleConfig


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    script = ScriptedConsole(ConsoleConfig(port=0, folder=str(tmp_path_factory.mktemp("console") / "own")))
    yield script
    script.close()


@pytest.fixture(autouse=True)
def begin_anew(request):
    """Put the scripted robot at its start and end the lease, before a test that uses them."""
    if "script" in request.fixturenames:
        script = request.getfixturevalue("script")
        door = script.console.door
        held = door.lease.current(door.steady())
        if held is not None:
            door.lease.release(held.holder, door.steady())
        script.stack.begin_anew()
