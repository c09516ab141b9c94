"""A page under test in a browser: opening, polling, and recording of errors and of requests to other hosts."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
from waiting import PATIENCE

SIZES = {"laptop": (1280, 800), "desk": (1920, 1080), "phone": (390, 844)}  # pixels of the window


def children() -> list[int]:
    """Return the processes of the browser, and whatever else this test has started."""
    return [one.pid for one in psutil.Process().children(recursive=True)]


class Opened:
    """A page of the console. ``errors``: errors logged by page and sockets; ``outside``: requested other hosts."""

    def __init__(self, page: Any, address: str, home: str) -> None:
        self.page = page
        self.errors: list[str] = []
        self.outside: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on(
            "request",
            lambda request: request.url.startswith((home, "blob:")) or self.outside.append(request.url),
        )
        page.goto(address)

    def until(self, expression: str, timeout: float = PATIENCE) -> Any:
        """Wait until a JavaScript expression is true; return its value. Polls: the CSP forbids `wait_for_function`."""
        return self.wait(lambda: self.page.evaluate(expression), expression, timeout)

    def sees(self, text: str, timeout: float = PATIENCE) -> None:
        """Wait until the page shows a text."""
        self.wait(lambda: text in self.page.inner_text("body"), f"the text {text!r}", timeout)

    def wait(self, true: Callable[[], Any], what: str, timeout: float = PATIENCE) -> Any:
        until = time.monotonic() + timeout
        while not (value := true()):
            if time.monotonic() > until:
                raise AssertionError(f"after {timeout} s not true: {what}; errors: {self.errors}")
            time.sleep(0.02)
        return value


@contextlib.contextmanager
def opened(
    browser: Any, address: str, size: tuple[int, int] = (1280, 800), dark: bool = False, home: str = ""
) -> Iterator[Opened]:
    """Open a page in its own browser context; on closing, check that it requested no other host.

    Nothing on it fades, so that colours can be read at any time.
    """
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        has_touch=width < 500,
        reduced_motion="reduce",
    )
    context.set_default_timeout(1000.0 * PATIENCE)  # of clicks, too
    try:
        looked = Opened(context.new_page(), address, home or address)
        yield looked
        assert looked.outside == []
        assert looked.errors == []
    finally:
        context.close()
