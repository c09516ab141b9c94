"""A scripted console per module, in a folder of its own."""

import pytest

from lodestar_console.scripted.console import ScriptedConsole
from lodestar_console.web.console import ConsoleConfig


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    script = ScriptedConsole(ConsoleConfig(port=0, folder=str(tmp_path_factory.mktemp("console") / "own")))
    yield script
    script.close()
