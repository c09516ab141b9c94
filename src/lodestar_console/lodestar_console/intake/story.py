"""The story of a run: decisions, events and changes of beliefs, from the topics of the stack."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from lodestar_console import protocol
from lodestar_console.board.board import Board
from lodestar_console.intake.convert import brief
from lodestar_console.intake.story_book import StoryBook
from lodestar_console.intake.worker import KeyedWorker
from lodestar_interfaces import msg
from lodestar_interfaces.srv import ListKeyframes
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_agent import decision_from_msg
from lodestar_ros.conversions_world import outcome_from_msg, trace_from_msg
from lodestar_ros.node import LodestarNode

LIST_PERIOD = 1.0  # s between two checks whether ``list_keyframes`` is served
_TAKEN_BACK = re.compile(r"Entry (\d+) was taken back")


class Story:
    """Show the page's parts ``decisions``, ``events`` and ``beliefs``, and store the keyframe ids by stamp.

    Subscribes: ``decision``, ``traces``, ``outcomes``, ``world_events``, ``directive_report``, ``restarts``,
    ``keyframes``. Calls: ``list_keyframes``.
    """

    def __init__(self, node: LodestarNode, board: Board, worker: KeyedWorker) -> None:
        self._board, self._worker = board, worker
        self._book = StoryBook(board)
        for kind, topic, profile, take in (
            (msg.Decision, "decision", qos.HISTORY, self._record(decision_from_msg)),
            (msg.ReasoningTrace, "traces", qos.HISTORY, self._record(trace_from_msg)),
            (msg.TraceOutcome, "outcomes", qos.HISTORY, self._record(outcome_from_msg)),
            (msg.WorldEvent, "world_events", qos.HISTORY, self._take_event),
            (msg.DirectiveReport, "directive_report", qos.HISTORY, self._take_report),
            (msg.NodeRestart, "restarts", qos.HISTORY, self._take_restart),
            (msg.Keyframe, "keyframes", qos.EVENT, self._take_keyframe),
        ):
            node.listen(kind, topic, partial(self._submit, take), profile)
        self._lister = node.create_client(ListKeyframes, "list_keyframes")
        self._listing = node.steady_timer(LIST_PERIOD, self._list)

    def _list(self) -> None:
        """Request the keyframes recorded before the console started, once their service is ready."""
        if self._lister.service_is_ready():
            self._listing.cancel()
            self._ask_after(0)

    def _ask_after(self, identity: int) -> None:
        asked = self._lister.call_async(ListKeyframes.Request(after=identity))
        asked.add_done_callback(self._on_listed)

    def _on_listed(self, future: Any) -> None:
        page = future.result() if future.exception() is None else None
        if page is not None and page.keyframes:
            for one in page.keyframes:
                self._submit(self._take_keyframe, one)
            if page.more:
                self._ask_after(int(page.keyframes[-1].id))

    def _take_keyframe(self, message: msg.Keyframe) -> None:
        self._board.shots.put(stamp_from_msg(message.header.stamp), int(message.id))

    def _submit(self, take: Callable[[Any], None], message: Any) -> None:
        self._worker.submit(partial(take, message))

    def _record(self, convert: Callable[[Any], Any]) -> Callable[[Any], None]:
        return lambda message: self._book.take(convert(message))

    def _take_event(self, message: msg.WorldEvent) -> None:
        at = stamp_from_msg(message.header.stamp)
        self._book.tell(
            message.kind, message.text, at, decision=message.trace_id, entities=message.entity_ids
        )
        back = _TAKEN_BACK.match(message.text) if message.kind == "UNDONE" else None
        if back is not None:
            entry = self._board.tables["beliefs"].get(back[1])
            if entry is not None:
                self._board.put("beliefs", msgspec.structs.replace(entry, undone=True))
        elif message.entry:
            self._board.put(
                "beliefs",
                protocol.BeliefChange(
                    id=str(message.entry),
                    entry=int(message.entry),
                    at=round(at, 3),
                    text=brief(message.text),
                    by=message.kind.replace("_", " ").lower(),
                    entities=[int(i) for i in message.entity_ids][:20],
                ),
            )

    def _take_report(self, message: msg.DirectiveReport) -> None:
        text = message.report if message.ended else f"Begun: {message.understood or message.text}"
        self._book.tell("DIRECTIVE", text, stamp_from_msg(message.header.stamp), entities=message.entity_ids)

    def _take_restart(self, message: msg.NodeRestart) -> None:
        self._book.tell("RESTART", f"{message.node}: {message.text}", stamp_from_msg(message.header.stamp))
