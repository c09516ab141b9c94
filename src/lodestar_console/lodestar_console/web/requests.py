"""Processing of requests of pages and agents: permission check, execution, journal."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace

import msgspec

from lodestar.language.halts import heard_stop
from lodestar.language.refusal_reasons import with_followed
from lodestar_console import protocol
from lodestar_console.access import permissions
from lodestar_console.access.lease import LeaseRefused
from lodestar_console.access.sessions import Session
from lodestar_console.web.hub import Hub
from lodestar_console.web.journal import Journal
from lodestar_console.web.pictures import PictureShelf
from lodestar_console.web.stack_port import Outcome, Upload

log = logging.getLogger("lodestar.console")

PATIENCE = 60.0  # s, timeout of a request; answers of language models take longest
MOST_RELEASED = 64  # largest number of holds that one Resume names
BUSY = "busy"  # code of a request refused because too many are running
_UNSENT = ("refused", "no_lease", "no_picture", BUSY)  # codes of requests that were not sent to the stack
_QUIET = (protocol.Ping, protocol.Resync, protocol.Details, protocol.At)  # not journalled


class Requests:
    """Check, carry out and journal requests of all sessions."""

    def __init__(self, hub: Hub, journal: Journal, pictures: PictureShelf) -> None:
        self._hub, self._journal, self._pictures = hub, journal, pictures

    async def perform(
        self, request: protocol.PageMessage, who: Session, refused: Outcome | None = None
    ) -> Outcome:
        """Carry out a request and return its outcome; never raises. Cancelling it leaves started actions running.

        refused: outcome of a request that is refused already; the robot still stops if its text says so.
        """
        if refused and not isinstance(request, (protocol.AskMemory, protocol.SendDirective)):
            return refused
        if isinstance(request, protocol.AskMemory):
            outcome = await self._ask(request, who, refused)
        else:
            outcome = refused or await self._permitted(request, who)
        if outcome.code in _UNSENT and isinstance(request, protocol.SendDirective):
            outcome = await self._unsent(request, who, outcome)
        if not isinstance(request, _QUIET):
            self._journal.note(who, request, outcome)
        return outcome

    async def _ask(self, request: protocol.AskMemory, who: Session, refused: Outcome | None) -> Outcome:
        """Return the outcome of a question. If its text says to stop, stop the robot, then ask the rest."""
        stop = await asyncio.to_thread(heard_stop, request.text)
        if stop is None:
            return refused or await self._permitted(request, who)
        halted = await self._halt(request, who)
        if not stop.rest or not halted.ok:
            return halted
        told = refused or await self._permitted(msgspec.structs.replace(request, text=stop.rest), who)
        value = told.value
        if isinstance(value, protocol.AnswerValue):
            value = msgspec.structs.replace(value, text=f"{halted.text} {value.text}")
        return replace(told, text=f"{halted.text} {told.text}", value=value)

    async def _unsent(self, request: protocol.SendDirective, who: Session, refused: Outcome) -> Outcome:
        """Return the outcome of a directive that was refused before it reached the goal selector.

        If its text says to stop, the robot stops; otherwise the outcome names the directive still running.
        """
        stop = await asyncio.to_thread(heard_stop, request.text)
        if stop is not None:
            halted = await self._halt(request, who)
            return replace(refused, text=f"{halted.text} {refused.text}") if stop.rest else halted
        followed = self._hub.board.get("directive")
        if isinstance(followed, protocol.Directive) and followed.running:
            text = with_followed(refused.text, followed.text or followed.understood)
            return replace(refused, text=text)
        return refused

    async def _halt(self, request: protocol.SendDirective | protocol.AskMemory, who: Session) -> Outcome:
        """Send the directive "stop", which needs no lease, and return its outcome."""
        return await self._carry_out(protocol.SendDirective(id=request.id, text="stop"), who)

    async def _permitted(self, request: protocol.PageMessage, who: Session) -> Outcome:
        problem = permissions.refusal(request, who) or _malformed(request)
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
        """Take or renew the lease for a request; agents must have taken it before. Raises LeaseRefused."""
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


def _malformed(request: protocol.PageMessage) -> str:
    if isinstance(request, protocol.Resume) and not (
        1 <= len(request.numbers) <= MOST_RELEASED and all(0 < one < 2**63 for one in request.numbers)
    ):
        return "Name the holds to release by their numbers; reload the page if it is older than the console."
    for name in ("text", "name"):
        text = getattr(request, name, "")
        if isinstance(text, str) and len(text) > protocol.MAX_DIRECTIVE:
            return f"The text has {len(text)} characters; say it in {protocol.MAX_DIRECTIVE} at most."
    return ""


def reply(number: int, outcome: Outcome) -> bytes:
    """Return the encoded reply to the request with id `number`."""
    value = msgspec.Raw(protocol.encode(outcome.value))
    return protocol.encode(
        protocol.Reply(id=number, ok=outcome.ok, code=outcome.code, text=outcome.text, value=value)
    )
