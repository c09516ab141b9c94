"""The port to the robot's stack: the web server asks, the intake (or a script) answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from lodestar_console import protocol
from lodestar_console.access.sessions import Session


@dataclass(frozen=True)
class Outcome:
    """End of a request. code: short name of a refusal, "" where it is ok; value: a record of the protocol, or None.

    directive: number of the directive that has begun, 0 = none.
    """

    ok: bool
    text: str = ""
    code: str = ""
    value: object | None = None
    directive: int = 0


@dataclass(frozen=True)
class Picture:
    """An image with its type. text: words that belong to it, from the world."""

    data: bytes
    media_type: str = "image/jpeg"
    text: str = ""


@dataclass(frozen=True)
class Wishes:
    """Wishes of all pages now. camera: images a second, 0 = none."""

    cloud: bool = False
    looks: bool = False
    memories: bool = False
    camera: float = 0.0


@dataclass(frozen=True)
class Upload:
    """A picture of a target that a page has sent."""

    data: bytes
    media_type: str
    by: str = field(default="")


class Stack(Protocol):
    """Deeds of the robot's stack for the console. Every method may be called on the web server's loop."""

    async def perform(
        self, request: protocol.PageMessage, who: Session, picture: Upload | None = None
    ) -> Outcome:
        """Carry out a request that was permitted. What it raises is told as an error of the console."""
        ...

    def stop(self) -> asyncio.Future[bool]:
        """Send STOP at once, to the gate and to the goal selector; never waits and never refuses.

        Return the future of the gate's own answer to it: whether it holds. It may never come.
        """
        ...

    def stands(self, since: float) -> bool:
        """Return whether the robot is measured to stand, by what was heard after `since` (s, monotonic)."""
        ...

    def cancel_of(self, who: str) -> None:
        """Cancel the directive that a session sent, where it runs."""
        ...

    async def keyframe(self, number: int, session: str, outlined: bool) -> Picture | None:
        """Return a keyframe's image, None where it is gone."""
        ...

    async def log(self, node: str, lines: int) -> str | None:
        """Return the last lines of a node's log, None where there is none."""
        ...

    async def examine(self) -> list[dict[str, str]]:
        """Return the doctor's findings, each with level, what and do. Raises RuntimeError where it cannot tell."""
        ...

    def want(self, wishes: Wishes) -> None:
        """Tell which streams are wanted now."""
        ...
