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

TEXT_EMBEDDER_DEVICE = "cpu"  # device of torch; chosen
TEXT_EMBEDDER_MAX_PHRASES = 512  # phrases per request; chosen
TEXT_EMBEDDER_CACHED_PHRASES = 20_000  # cached vectors; chosen


@dataclass(frozen=True)
class TextEmbedderConfig:
    """Configuration of the text embedder: folder of a sentence-transformers model, "" = the packaged one."""

    model: str = ""  # folder of a SentenceTransformer; empty = the packaged all-MiniLM-L6-v2


class TextEmbedderNode(LodestarNode):
    """Embeds phrases; the model is loaded after the start, and until then the answer is MODEL_UNAVAILABLE.

    Serves: ``~/embed`` on its own thread, so that no other callback waits for the model.
    """

    def __init__(self, **kwargs):
        # The node does not depend on simulated time: with the system's clock it need not process /clock, fifty times
        # a second.
        real_time = [Parameter("use_sim_time", value=False)]
        super().__init__("text_embedder", parameter_overrides=real_time, **kwargs)
        self._config = declare_config(self, TextEmbedderConfig)
        self._embedder = SentenceTransformerEmbedder(self._config.model or None, TEXT_EMBEDDER_DEVICE)
        self._book = PhraseBook(self._embedder, TEXT_EMBEDDER_CACHED_PHRASES)
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
        if len(phrases) > TEXT_EMBEDDER_MAX_PHRASES:
            text = f"{len(phrases)} phrases; send at most {TEXT_EMBEDDER_MAX_PHRASES} at once"
            raise Refused(EmbedTexts.Response.TOO_MANY_PHRASES, text)
        if not self._ready:
            raise Refused(EmbedTexts.Response.MODEL_UNAVAILABLE, self._problem)
        response.embeddings = vectors_to_msg(self._book.vectors(phrases))
        return response


main = main_of(TextEmbedderNode)
