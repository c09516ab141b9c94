"""Browser fixtures for tests of the page; without a browser the tests are skipped with one line of output."""

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
    """Return the reason why no browser can run, "" = available."""
    lacks = [name for name in NEEDS if importlib.util.find_spec(name) is None]
    lacks += [] if CHROMIUM else ["chromium (apt-get install chromium, 414 MB)"]
    return f"browser tests left out, missing: {', '.join(lacks)}" if lacks else ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip all page tests here, so that pytest reports them in one line."""
    if item.get_closest_marker("browser") and (reason := missing()):
        pytest.skip(reason)


@pytest.fixture
def console() -> Iterator[Any]:
    """Yield a test server that plays a recorded run."""
    from scripted import ScriptedConsole

    with ScriptedConsole().serving() as served:
        yield served


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Any]:
    """Yield the real console server around a scripted robot."""
    from scripted_robot.console import ScriptedConsole

    from lodestar_console.web.console import ConsoleConfig

    served = ScriptedConsole(ConsoleConfig(port=0, folder=str(tmp_path / "console")))
    yield served
    served.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yield a headless Chromium with software rendering."""
    from playwright.sync_api import sync_playwright
    from waiting import PATIENCE

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, timeout=1000.0 * PATIENCE
        )
        yield started
        started.close()
