"""The goal selector's side of the wanted words: it publishes the newest set, and hands the loop what comes back."""

from __future__ import annotations

from lodestar.agent.loop.machine import DecisionLoop
from lodestar.perception.lookout import WantedWords
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions_vocabulary import report_from_msg, wanted_to_msg
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import LodestarNode


class WordsClient:
    """Publishes ``~/wanted_words``, at first the empty set: words of a process before are not wanted any more.

    Subscribes: ``vocabulary``.
    """

    def __init__(self, node: LodestarNode, loop: DecisionLoop, thread: LoopThread) -> None:
        self._loop, self._thread = loop, thread
        self._publisher = node.create_publisher(msg.WantedWords, "~/wanted_words", qos.LATCHED)
        node.listen(msg.VocabularyReport, "vocabulary", self._on_report, qos.LATCHED)
        node.diagnostics.value("words.acknowledged", lambda: loop.words.is_acknowledged)
        node.diagnostics.value("words.unseen", lambda: loop.words.unseen)
        self.want(loop.words.wanted)

    def want(self, wanted: WantedWords) -> None:
        """Have perception look for these words, in place of those before."""
        self._publisher.publish(wanted_to_msg(wanted))

    def _on_report(self, message: msg.VocabularyReport) -> None:
        report = report_from_msg(message)
        self._thread.post(lambda: self._loop.on_vocabulary(report))
