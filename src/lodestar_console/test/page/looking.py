"""A page under test: opened, polled, and watched for errors and for calls of outside hosts."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

SIZES = {"laptop": (1280, 800), "desk": (1920, 1080), "phone": (390, 844)}  # px


class Opened:
    """A page of the console. ``errors``: what its console and its sockets told; ``outside``: hosts that it called."""

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

    def until(self, expression: str, timeout: float = 15.0) -> Any:
        """Return the expression's value once it is true in the page. Polled: the CSP refuses `wait_for_function`."""
        return self.wait(lambda: self.page.evaluate(expression), expression, timeout)

    def sees(self, text: str, timeout: float = 15.0) -> None:
        """Wait until the page shows a text."""
        self.wait(lambda: text in self.page.inner_text("body"), f"the text {text!r}", timeout)

    def wait(self, true: Callable[[], Any], what: str, timeout: float = 15.0) -> Any:
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
    """Open a page in a context of its own; it must have called nobody else when it is closed."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        has_touch=width < 500,
    )
    try:
        looked = Opened(context.new_page(), address, home or address)
        yield looked
        assert looked.outside == []
        assert [error for error in looked.errors if "favicon" not in error and "404" not in error] == []
    finally:
        context.close()
