"""Conversion of the motion gate's records to and from messages, and their follower in other nodes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from std_srvs.srv import SetBool

from lodestar.storage.private import state_home
from lodestar_interfaces.msg import Hold, Holds
from lodestar_interfaces.srv import PlaceHold, ReleaseHold
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, stamp_from_msg, stamp_to_msg
from lodestar_ros.motion.authority import UNTOLD, Kind, Record, RunMark, Standing
from lodestar_ros.node import LodestarNode

MOTION_STATE = "LODESTAR_MOTION_STATE"  # environment variable
PATIENCE = 2.0  # s of real time after which an unanswered request is sent again; chosen
RETRY_PERIOD = 0.1  # s of real time between two checks for such requests

Owner = tuple[Kind, str]


def state_file(node: LodestarNode, name: str) -> Any:
    """Return the path of a file of this node, domain and namespace in the user's state folder.

    The environment variable `MOTION_STATE` names another folder, for a temporary session.
    """
    place = f"{node.context.get_domain_id()}{node.get_namespace()}".rstrip("/").replace("/", "_")
    home = Path(os.environ.get(MOTION_STATE) or state_home() / "motion")
    return home / place / f"{node.get_name()}.{name}"


def holds_to_msg(standing: Standing, fault: str) -> Holds:
    """Return the message of the standing records. fault: why the newest is not on disk, "" = it is."""
    return Holds(
        number=standing.number,
        last_hold=standing.last_hold,
        standing=[
            Hold(number=one.number, kind=one.kind, who=one.who, why=one.why, since=stamp_to_msg(one.since))
            for one in standing.records
        ],
        fault=fault,
    )


def standing_from_msg(message: Holds) -> Standing:
    """Return the standing records in a message. Raises BadMessage for an unknown kind."""
    records = []
    for one in message.standing:
        if one.kind not in (Kind.HOLD, Kind.PAUSE):
            raise BadMessage(f"{one.kind} is no kind of a hold")
        records.append(Record(int(one.number), Kind(one.kind), one.who, one.why, stamp_from_msg(one.since)))
    return Standing(int(message.number), int(message.last_hold), tuple(records))


class HoldFollower:
    """Follows the motion gate's standing records, and requests holds, pauses and releases from it.

    A record requested here counts as standing at once, before the gate publishes it. The node requests a hold
    if it starts after a crash, or after an end before the gate had recorded all requests. Until the gate's
    first message, the robot counts as held (`UNTOLD`). on_change: called with the new standing records.
    Subscribes: ``motion_gate/holds``. Calls: ``motion_gate/place_hold``, ``motion_gate/release_hold``.
    """

    def __init__(
        self, node: LodestarNode, on_change: Callable[[Standing], None], gate: str = "motion_gate"
    ) -> None:
        self._node, self._on_change, self._gate = node, on_change, gate
        self._told = self.standing = UNTOLD
        self._asked: dict[Owner, Record] = {}  # not published by the gate yet; number 0 = not answered
        self._sent: dict[Owner, tuple[float, Any]] = {}
        self._place = node.create_client(PlaceHold, f"{gate}/place_hold")
        self._release = node.create_client(ReleaseHold, f"{gate}/release_hold")
        mark = RunMark(state_file(node, "running"))
        node.on_close(lambda: mark.close(not node.failed and all(one.number for one in self._asked.values())))
        node.listen(Holds, f"{gate}/holds", self._on_holds, qos.LATCHED)
        node.steady_timer(RETRY_PERIOD, self._check)
        if mark.crashed:
            why = "another process of it lives" if mark.twin else "it came back after a crash"
            node.get_logger().warning(f"held: {why}")
            self.place(Kind.HOLD, node.get_name(), why)

    def serve(self, kind: Kind, note: Callable[[], str] = lambda: "") -> None:
        """Serve ``~/hold`` or ``~/pause``: true places a record, false asks the gate to release its records.

        ``~/hold`` releases holds and pauses, ``~/pause`` only pauses. note: returns a text for the response
        to true.
        """
        name = kind.name.lower()
        who = f"{self._node.get_name()}/{name}"

        def answer(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
            if request.data:
                said = f"{'held' if kind is Kind.HOLD else 'paused'}: nothing moves until released{note()}"
                self.place(kind, who, "asked for by a call")
                response.success, response.message = True, said
            else:
                response.success, response.message = self.release(kind, who)
            return response

        self._node.create_service(SetBool, f"~/{name}", answer)

    def place(self, kind: Kind, who: str, why: str) -> None:
        """Hold or pause at once, and repeat the request to the gate until the gate answers."""
        self._asked[kind, who] = Record(0, kind, who, why, time.time())
        self._sent.pop((kind, who), None)
        self._check()
        self._follow()

    def release(self, kind: Kind, who: str) -> tuple[bool, str]:
        """Ask the gate to release its published records; for the kind PAUSE, only pauses.

        Returns whether it was asked, and a text: the numbers to release, or why it was not asked.
        """
        if not self._told.is_told or not self._release.service_is_ready():
            return False, f"{self._gate} is not running: start it; nothing was released"
        if any(asked >= kind for asked, _ in self._asked):
            return (
                False,
                f"{self._gate} has not recorded the newest stop yet: nothing was released, ask again",
            )
        records = [one for one in self._told.records if one.kind >= kind]
        for one in records:
            self._release.call_async(ReleaseHold.Request(number=one.number, who=who))
        asked = ", ".join(f"number {one.number} ({one.kind.name.lower()} of {one.who})" for one in records)
        return True, f"asked {self._gate} to release {asked}" if asked else "nothing stands"

    def _on_holds(self, message: Holds) -> None:
        self._told = standing_from_msg(message)
        self._follow()

    def _follow(self) -> None:
        for owner, record in list(self._asked.items()):
            if 0 < record.number <= self._told.number:
                del self._asked[owner]
        kept = [one for one in self._told.records if one.owner not in self._asked]
        asked = sorted(self._asked.values(), key=lambda one: -one.since)
        records = sorted([*asked, *kept], key=lambda one: one.kind)
        standing = replace(self._told, records=tuple(records))
        if standing != self.standing:
            self.standing = standing
            self._on_change(standing)

    def _check(self) -> None:
        """Send requests that are new or got no answer within `PATIENCE`."""
        now = time.monotonic()
        for owner, record in self._asked.items():
            since, answer = self._sent.get(owner, (0.0, None))
            if record.number or (answer is not None and now - since < PATIENCE):
                continue
            if answer is not None:
                self._place.remove_pending_request(answer)
            if self._place.service_is_ready():
                asked = self._place.call_async(
                    PlaceHold.Request(kind=record.kind, who=record.who, why=record.why)
                )
                self._sent[owner] = now, asked
                asked.add_done_callback(lambda done, record=record: self._on_placed(record, done))

    def _on_placed(self, record: Record, done: Any) -> None:
        if done.cancelled() or done.exception() is not None or self._asked.get(record.owner) is not record:
            return
        self._asked[record.owner] = replace(record, number=max(int(done.result().number), 1))
        self._follow()
