"""Pictures that come with a directive are described on a worker; the executor fetches what is done."""

from __future__ import annotations

import queue
from dataclasses import dataclass, field
from typing import Any

from lodestar.language.directive import Directive, Subtask
from lodestar.language.model_reasoner import ModelPictures
from lodestar.language.picture_goals import PictureReader, pictures_only, with_pictures
from lodestar.models.chat import ChatConfig, ChatUnavailable, OpenAiChat
from lodestar.perception.pictures import BadPicture, PictureConfig, decode_picture
from lodestar_ros.workers import QueueWorker

ADAPTERS = ("none", "model")


@dataclass(frozen=True)
class PicturesConfig:
    """Who says what a picture of the target shows. limit: pictures of one directive at most."""

    adapter: str = "none"  # none: pictures are refused with a reason; model: a vision model behind `chat`
    limit: int = 5
    file: PictureConfig = field(default_factory=PictureConfig)
    chat: ChatConfig = field(default_factory=ChatConfig)

    def __post_init__(self) -> None:
        if self.adapter not in ADAPTERS:
            raise ValueError(f"adapter is {self.adapter!r}; it is one of {', '.join(ADAPTERS)}")


def picture_reader(config: PicturesConfig) -> PictureReader:
    """Makes a subtask of a picture file, or says why it cannot."""
    if config.adapter == "model":
        return ModelPictures(OpenAiChat(config.chat), config.file)
    return lambda image: _unread(image, config.file)


def _unread(image: bytes, config: PictureConfig) -> Subtask:
    decode_picture(image, config)
    raise BadPicture(
        "nothing here can say what the picture shows: set pictures.adapter to model (docs/how-to/language-model.md), "
        "or say in words what to find"
    )


class PictureDesk:
    """Takes directives with pictures, and gives them back with words instead."""

    def __init__(self, config: PicturesConfig, read: PictureReader | None = None) -> None:
        self._config = config
        self._read = read or picture_reader(config)
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._worker: QueueWorker | None = None

    def submit(self, ticket: Any, directive: Directive | None, images: tuple[bytes, ...]) -> None:
        """Have pictures described; without a directive they are one. Raises BadPicture for too many."""
        count = len(images) + (sum(len(s.images) for s in directive.subtasks) if directive is not None else 0)
        if count > self._config.limit:
            raise BadPicture(f"there are {count} pictures, at most {self._config.limit} are read")
        if self._worker is None:
            self._worker = QueueWorker("pictures", self._work)
        self._worker.submit((ticket, directive, images))

    def take(self) -> list[tuple[Any, Directive | BadPicture]]:
        """What is done since the last call: tickets with their directive, or with what is wrong."""
        done = []
        while True:
            try:
                done.append(self._done.get_nowait())
            except queue.Empty:
                return done

    def _work(self, item: tuple[Any, Directive | None, tuple[bytes, ...]]) -> None:
        ticket, directive, images = item
        outcome: Directive | BadPicture
        try:
            if directive is None:
                outcome = pictures_only(images, self._read)
            else:
                outcome = with_pictures(directive, images, self._read)
        except BadPicture as error:
            outcome = error
        except ChatUnavailable as error:
            outcome = BadPicture(f"the vision model cannot be asked what the picture shows: {error}")
        except Exception as error:  # the client waits for a result, whatever it is
            outcome = BadPicture(f"the picture could not be described: {error.__class__.__name__}")
        self._done.put((ticket, outcome))
