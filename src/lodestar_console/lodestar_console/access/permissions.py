"""Requests by the role and the lease that they need."""

from __future__ import annotations

from lodestar_console import protocol
from lodestar_console.access.sessions import Session

_LOOK = (
    protocol.Ping, protocol.Resync, protocol.AskMemory, protocol.SearchMemory, protocol.Details, protocol.At,
)  # fmt: skip
#: Need the role command, and no lease: they stop, mend or remember, and move nothing.
_COMMAND = (
    protocol.Cancel, protocol.Resume, protocol.ChangeLease, protocol.OfferLease, protocol.NameRoom, protocol.Correct,
    protocol.PinMemory, protocol.CorrectMemory, protocol.ForgetMemory,
)  # fmt: skip
#: Move the robot, or change where it may go: the lease too.
_DRIVE = (
    protocol.SendDirective, protocol.AnswerRobot, protocol.PointOut, protocol.LayZone, protocol.CloseWay,
    protocol.Undo,  # of an entry that closed something
)  # fmt: skip


def needs_lease(request: protocol.PageMessage) -> bool:
    """Return whether a request can move the robot, or changes where it may go."""
    return isinstance(request, _DRIVE) and not (
        isinstance(request, protocol.SendDirective) and request.dry_run
    )


def refusal(request: protocol.PageMessage, who: Session) -> str:
    """Return why a role does not permit a request, "" where it does. An unlisted request is refused."""
    dry = isinstance(request, protocol.SendDirective) and request.dry_run
    if dry or isinstance(request, _LOOK):
        return ""
    if isinstance(request, (*_COMMAND, *_DRIVE)):
        if who.role == "command":
            return ""
        return f"Your role is {who.role}, which may not do this. STOP works for every role."
    return "Nobody may do this."
