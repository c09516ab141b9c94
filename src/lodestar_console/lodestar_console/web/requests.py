"""A request of a page or an agent: permitted or not, carried out, and noted in the journal."""

from __future__ import annotations

import asyncio
import logging
import time

import msgspec

from lodestar_console import protocol
from lodestar_console.access import permissions
from lodestar_console.access.lease import LeaseRefused
from lodestar_console.access.sessions import Session
from lodestar_console.web.hub import Hub
from lodestar_console.web.journal import Journal
from lodestar_console.web.pictures import PictureShelf
from lodestar_console.web.stack_port import Outcome, Upload

log = logging.getLogger("lodestar.console")

PATIENCE = 60.0  # s that a request may take; an answer of a language model is the longest
_QUIET = (protocol.Ping, protocol.Resync, protocol.Details, protocol.At)  # not in the journal


class Requests:
    """Carries requests out for everybody."""

    def __init__(self, hub: Hub, journal: Journal, pictures: PictureShelf) -> None:
        self._hub, self._journal, self._pictures = hub, journal, pictures

    async def perform(self, request: protocol.PageMessage, who: Session) -> Outcome:
        """Return the end of a request, which never raises. Cancelled with its caller, except for what has begun."""
        outcome = await self._permitted(request, who)
        if not isinstance(request, _QUIET):
            self._journal.note(who, request, outcome)
        return outcome

    async def _permitted(self, request: protocol.PageMessage, who: Session) -> Outcome:
        problem = permissions.refusal(request, who) or _too_long(request)
        if problem:
            return Outcome(False, problem, "refused")
        if isinstance(request, protocol.ChangeLease):
            return self._change_lease(request, who)
        if isinstance(request, protocol.OfferLease):
            return self._offer(request)
        if permissions.needs_lease(request):
            try:
                self._take(who)
            except LeaseRefused as refusal:
                return Outcome(False, str(refusal), "no_lease")
        return await self._carry_out(request, who)

    async def _carry_out(self, request: protocol.PageMessage, who: Session) -> Outcome:
        picture: Upload | None = None
        named = getattr(request, "picture", None)
        if named:
            picture = self._pictures.take(named)
            if picture is None:
                return Outcome(False, "The picture is gone; add it again.", "no_picture")
        began = time.monotonic()
        try:
            outcome = await asyncio.wait_for(self._hub.stack.perform(request, who, picture), PATIENCE)
        except asyncio.TimeoutError:
            return Outcome(False, f"No answer within {PATIENCE:.0f} s; it may still happen.", "timeout")
        except Exception as error:
            log.exception("a request failed")
            return Outcome(False, f"The console failed: {error.__class__.__name__}: {error}", "error")
        if outcome.ok and isinstance(request, protocol.Resume):
            self._hub.stop.release(began)
        return outcome

    def _take(self, who: Session) -> None:
        """Take or renew the lease for what moves the robot; agents take it by a call of their own."""
        steady = self._hub.door.steady()
        if who.agent and not self._hub.door.lease.renew(who.id, steady):
            raise LeaseRefused("this agent has no lease; call take_lease")
        if not who.agent:
            self._hub.door.lease.take(who.id, who.name, steady)
        self._hub.lease()

    def _change_lease(self, request: protocol.ChangeLease, who: Session) -> Outcome:
        lease, steady = self._hub.door.lease, self._hub.door.steady()
        try:
            if request.action == "take":
                held = lease.take(who.id, who.name, steady, agent=who.agent)
                text = f"You command for {held.until - steady:.0f} s; every command renews it."
            elif lease.release(who.id, steady):
                text = "You gave the lease back."
            else:
                return Outcome(False, "You do not have the lease.", "no_lease")
        except LeaseRefused as refusal:
            return Outcome(False, f"{str(refusal)[:1].upper()}{str(refusal)[1:]}.", "no_lease")
        self._hub.lease()
        return Outcome(True, text)

    def _offer(self, request: protocol.OfferLease) -> Outcome:
        if request.agent not in self._hub.door.agents.names():
            return Outcome(False, "No agent of this name has a token.", "unknown")
        self._hub.offer(request.agent, request.offered)
        return Outcome(True, f"{request.agent} may {'' if request.offered else 'not '}take the lease.")


def _too_long(request: protocol.PageMessage) -> str:
    for name in ("text", "name"):
        text = getattr(request, name, "")
        if isinstance(text, str) and len(text) > protocol.MAX_DIRECTIVE:
            return f"The text has {len(text)} characters; say it in {protocol.MAX_DIRECTIVE} at most."
    return ""


def reply(number: int, outcome: Outcome) -> bytes:
    """Return the text of the reply to a request."""
    value = msgspec.Raw(protocol.encode(outcome.value))
    return protocol.encode(
        protocol.Reply(id=number, ok=outcome.ok, code=outcome.code, text=outcome.text, value=value)
    )
