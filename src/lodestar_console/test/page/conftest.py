"""A browser for the tests of the page; where there is none, they are left out and say so in one line."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
NEEDS = ("playwright", "starlette", "uvicorn", "websockets")
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def missing() -> str:
    """Return why there can be no browser, or an empty text."""
    lacks = [name for name in NEEDS if importlib.util.find_spec(name) is None]
    lacks += [] if CHROMIUM else ["chromium (apt-get install chromium, 414 MB)"]
    return f"browser tests left out, missing: {', '.join(lacks)}" if lacks else ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip here, and not in the tests: what is skipped at one place is told in one line."""
    if item.get_closest_marker("browser") and (reason := missing()):
        pytest.skip(reason)


@pytest.fixture
def console() -> Iterator[Any]:
    """A scripted server with a recorded run."""
    from scripted import ScriptedConsole

    with ScriptedConsole().serving() as served:
        yield served


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Any]:
    """The real server around a scripted robot."""
    from lodestar_console.scripted.console import ScriptedConsole
    from lodestar_console.web.console import ConsoleConfig

    served = ScriptedConsole(ConsoleConfig(port=0, folder=str(tmp_path / "console")))
    yield served
    served.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a screen, drawn by its own processor renderer."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()
