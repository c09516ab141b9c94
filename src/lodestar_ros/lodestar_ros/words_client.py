"""The goal selector's client for wanted words: publishes the newest set of words that perception must detect,
and passes perception's report to the decision loop.
"""

from __future__ import annotations

from lodestar.agent.loop.machine import DecisionLoop
from lodestar.perception.lookout import WantedWords
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions_vocabulary import report_from_msg, wanted_to_msg
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import LodestarNode


class WordsClient:
    """Publishes ``~/wanted_words``, first the empty set, because words of an earlier process are no longer wanted.

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
        """Publish the words that perception must look for, in place of the earlier ones."""
        self._publisher.publish(wanted_to_msg(wanted))

    def _on_report(self, message: msg.VocabularyReport) -> None:
        report = report_from_msg(message)
        self._thread.post(lambda: self._loop.on_vocabulary(report))
