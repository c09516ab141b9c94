"""ROS shell around `SentenceTransformerEmbedder`: the only process that loads the text model."""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.parameter import Parameter

from lodestar.models.embedder import EmbedderUnavailable, SentenceTransformerEmbedder
from lodestar.models.phrases import PhraseBook
from lodestar_interfaces.srv import EmbedTexts
from lodestar_ros.conversions_sensors import vectors_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import declare_config
from lodestar_ros.services import ServiceWorker
from lodestar_ros.workers import LatestWorker, Refused


@dataclass(frozen=True)
class TextEmbedderConfig:
    """Model, device and limits of the text embedder."""

    model: str = ""  # folder of a SentenceTransformer; empty = the packaged all-MiniLM-L6-v2
    device: str = "cpu"  # as torch names it; chosen
    max_phrases: int = 512  # per request; chosen
    cached_phrases: int = 20_000  # vectors kept; chosen


class TextEmbedderNode(LodestarNode):
    """Embed phrases; the model is loaded after the start, and until then the answer is MODEL_UNAVAILABLE.

    Serves: ``~/embed`` on a thread of its own, so that nothing else waits for the model.
    """

    def __init__(self, **kwargs):
        # Its work is independent of time: with the system's clock it need not process /clock, fifty times a second.
        real_time = [Parameter("use_sim_time", value=False)]
        super().__init__("text_embedder", parameter_overrides=real_time, **kwargs)
        self._config = declare_config(self, TextEmbedderConfig)
        self._embedder = SentenceTransformerEmbedder(self._config.model or None, self._config.device)
        self._book = PhraseBook(self._embedder, self._config.cached_phrases)
        self._ready = False
        self._problem = "the text model is loading; ask again"
        self._loader = LatestWorker("load", self._load, self._on_failure)
        self.on_close(self._loader.close)
        errors: dict[type[Exception], int] = {EmbedderUnavailable: EmbedTexts.Response.MODEL_UNAVAILABLE}
        ServiceWorker(self, EmbedTexts, "~/embed", self._embed, errors)
        self.diagnostics.value("phrases", lambda: len(self._book))
        self.diagnostics.status(self._problem, ok=False)
        self._loader.submit(None)

    def _load(self, _item: None) -> None:
        self._book.vectors(["a red chair"])
        self._ready = True
        self.diagnostics.status(f"{self._embedder.model} ready")
        self.get_logger().info(f"{self._embedder.model} ready")

    def _on_failure(self, error: Exception) -> None:
        self._problem = f"{error}"
        self.diagnostics.status(self._problem, ok=False)
        self.diagnostics.error(error)

    def _embed(self, request: EmbedTexts.Request, response: EmbedTexts.Response) -> EmbedTexts.Response:
        response.model = self._embedder.model
        phrases = list(request.phrases)
        if not phrases:
            raise Refused(EmbedTexts.Response.EMPTY_REQUEST, "no phrases")
        if len(phrases) > self._config.max_phrases:
            text = f"{len(phrases)} phrases; send at most {self._config.max_phrases} at once"
            raise Refused(EmbedTexts.Response.TOO_MANY_PHRASES, text)
        if not self._ready:
            raise Refused(EmbedTexts.Response.MODEL_UNAVAILABLE, self._problem)
        response.embeddings = vectors_to_msg(self._book.vectors(phrases))
        return response


main = main_of(TextEmbedderNode)
