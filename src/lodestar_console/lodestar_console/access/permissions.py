"""Permissions of requests: required role, and whether the lease is required."""

from __future__ import annotations

from lodestar_console import protocol
from lodestar_console.access.sessions import Session

_LOOK = (
    protocol.Ping, protocol.Resync, protocol.AskMemory, protocol.SearchMemory, protocol.Details, protocol.At,
)  # fmt: skip
#: Require the role "command" but no lease: they neither move the robot nor change what it believes or remembers.
_COMMAND = (protocol.Cancel, protocol.ChangeLease, protocol.OfferLease)
#: Require the role "command" and the lease: they move the robot, let it move again, or change beliefs, memories or
#: the area where it may drive.
_DRIVE = (
    protocol.SendDirective, protocol.AnswerRobot, protocol.PointOut, protocol.LayZone, protocol.CloseWay,
    protocol.Resume, protocol.NameRoom,  # a zone may be a room by name
    protocol.Correct, protocol.Undo,  # may reopen a closed area
    protocol.PinMemory, protocol.CorrectMemory, protocol.ForgetMemory,
)  # fmt: skip


def needs_lease(request: protocol.PageMessage) -> bool:
    """Return whether a request can move the robot, or change its beliefs, memories or permitted area."""
    return isinstance(request, _DRIVE) and not (
        isinstance(request, protocol.SendDirective) and request.dry_run
    )


def refusal(request: protocol.PageMessage, who: Session) -> str:
    """Return the reason why a session's role forbids a request, "" = permitted. Unlisted requests are refused."""
    dry = isinstance(request, protocol.SendDirective) and request.dry_run
    if dry or isinstance(request, _LOOK):
        return ""
    if isinstance(request, (*_COMMAND, *_DRIVE)):
        if who.role == "command":
            return ""
        return f"Your role is {who.role}, which may not do this. STOP works for every role."
    return "Nobody may do this."
