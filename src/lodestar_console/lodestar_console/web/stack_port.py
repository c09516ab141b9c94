"""Interface between web server and robot stack, implemented over ROS, for recorded logs, and by scripts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from lodestar_console import protocol
from lodestar_console.access.sessions import Session


@dataclass(frozen=True)
class Outcome:
    """Outcome of a request. code: short name of a refusal, "" = ok; value: a record of the protocol, or None.

    directive: number of the started directive, 0 = none.
    """

    ok: bool
    text: str = ""
    code: str = ""
    value: object | None = None
    directive: int = 0


@dataclass(frozen=True)
class Picture:
    """An encoded image with its media type. text: caption from the world, untrusted."""

    data: bytes
    media_type: str = "image/jpeg"
    text: str = ""


@dataclass(frozen=True)
class Wishes:
    """Streams wanted by at least one page. looks: floor cells seen by the camera. camera: images per s."""

    cloud: bool = False
    looks: bool = False
    memories: bool = False
    camera: float = 0.0


@dataclass(frozen=True)
class Upload:
    """An uploaded picture of a target. by: id of the session."""

    data: bytes
    media_type: str
    by: str = field(default="")


class Stack(Protocol):
    """Interface to the robot's stack. Every method is callable on the web server's loop."""

    async def perform(
        self, request: protocol.PageMessage, who: Session, picture: Upload | None = None
    ) -> Outcome:
        """Carry out a permitted request and return its outcome. Exceptions are reported as errors of the console."""

    def stop(self, who: str) -> asyncio.Future[bool]:
        """Send STOP at once to the motion gate, in the name of `who`; never blocks and never refuses.

        Returns a future of the motion gate's answer: whether it blocks all motion. It may never complete.
        """

    def stands(self, since: float) -> bool:
        """Return whether measurements received after `since` (s, monotonic) show the robot standing still."""

    def cancel_of(self, who: str) -> None:
        """Cancel the running directive of a session, if it has one. who: id of the session."""

    async def keyframe(self, number: int, session: str, outlined: bool) -> Picture | None:
        """Return a keyframe's image, with instance outlines if `outlined`; None if it is not available."""

    async def log(self, node: str, lines: int) -> str | None:
        """Return the last lines of a node's log, None if there is no log."""

    async def examine(self) -> list[dict[str, str]]:
        """Run `lodestar_ros.doctor`; return its findings, each with level, what (problem) and do (remedy).

        Raises RuntimeError if it fails.
        """

    def want(self, wishes: Wishes) -> None:
        """Set the streams that pages want now."""
