"""Perception's server of wanted words: sets the detector's vocabulary to the newest words, and reports the result."""

from __future__ import annotations

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig
from lodestar.perception.frames import Labeller
from lodestar.perception.lookout import VocabularyReport, WantedWords
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions_vocabulary import report_to_msg, wanted_from_msg
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError
from lodestar_ros.workers import LatestWorker

RETRY = 10.0  # s after which words that the detector could not use are tried again; chosen
_PATIENCE = 0.2  # s to wait for vectors that name the nearest label; chosen: below a feedback's period
_MOST_EMBEDDED = 1000  # most labels whose vectors are requested; a prompt-free model has too many


class LookoutServer:
    """Encodes wanted words on its own thread, beside the images. Only the newest set counts.

    Subscribes: ``wanted_words``. Publishes: ``~/vocabulary``, at start and in answer to each set.
    """

    def __init__(self, node: LodestarNode, config: PerceptionConfig, detector: Labeller) -> None:
        phrases = RemotePhraseBook(_PATIENCE)
        try:
            self._lookout = parts.lookout(config, detector, phrases)
        except ValueError as error:
            raise ParameterError(f"words.file: {error}") from error
        self._embedder, self._node = phrases.connect(node), node
        self._wanted, self._report = WantedWords(), VocabularyReport()
        self._publisher = node.create_publisher(msg.VocabularyReport, "~/vocabulary", qos.LATCHED)
        self._worker: LatestWorker[WantedWords] = LatestWorker(
            "words", self._look_for, node.diagnostics.error
        )
        node.on_close(self._worker.close)
        node.diagnostics.value("words.latency_s", lambda: round(self._worker.latency, 3))
        node.diagnostics.value("words.vocabulary", self._described)
        node.diagnostics.value("words.unseen", lambda: self._report.sentence)
        self._worker.submit(self._wanted)
        node.steady_timer(RETRY, self._retry)
        node.listen(msg.WantedWords, "wanted_words", self._on_wanted, qos.LATCHED)

    def _on_wanted(self, message: msg.WantedWords) -> None:
        self._wanted = wanted_from_msg(message)
        self._worker.submit(self._wanted)

    def _retry(self) -> None:
        if self._report.problem and not self._worker.busy:
            self._worker.submit(self._wanted)

    def _look_for(self, wanted: WantedWords) -> None:
        """Set the detector's vocabulary and publish the report. Runs on the worker."""
        report = self._report = self._lookout.look_for(wanted)
        self._publisher.publish(report_to_msg(report))
        if not report.is_open:
            self._embedder.want(report.names[:_MOST_EMBEDDED])
        if report.problem:
            self._node.get_logger().warning(f"words: {report.problem}")

    def _described(self) -> str:
        report = self._report
        return "any text" if report.is_open else f"{len(report.names)} labels" if report.names else "none"
