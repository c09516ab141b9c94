"""Describes a directive's pictures on a worker; the executor fetches the results."""

from __future__ import annotations

import queue
from typing import Any

from lodestar.assembly.parts import picture_reader
from lodestar.language.directive import Directive
from lodestar.language.picture_goals import PictureReader, pictures_only, with_pictures
from lodestar.models.chat import ChatUnavailable
from lodestar.perception.picture_config import PicturesConfig
from lodestar.perception.pictures import BadPicture
from lodestar_ros.workers import QueueWorker


def pictures_of(directive: Directive) -> tuple[bytes, ...]:
    """Return the pictures in the items of the directive's steps."""
    return tuple(image for step in directive.steps if step.item is not None for image in step.item.images)


class PictureDesk:
    """Describes pictures of directives by a vision model on a worker, and adds the descriptions to the directives."""

    def __init__(self, config: PicturesConfig, read: PictureReader | None = None) -> None:
        self._config = config
        self._read = read or picture_reader(config)
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._worker: QueueWorker | None = None

    def submit(self, ticket: Any, directive: Directive | None, images: tuple[bytes, ...]) -> None:
        """Queue a directive's pictures to be described; without a directive, one is made from the pictures.

        Raises BadPicture for too many. ticket: has `is_wanted`; pictures whose ticket is no longer wanted
        when their turn comes are skipped.
        """
        count = len(images) + (len(pictures_of(directive)) if directive is not None else 0)
        if count > self._config.limit:
            raise BadPicture(f"the directive has {count} pictures; at most {self._config.limit} are allowed")
        if self._worker is None:
            self._worker = QueueWorker("pictures", self._work)
        self._worker.submit((ticket, directive, images))

    def take(self) -> list[tuple[Any, Directive | BadPicture]]:
        """Return the tickets finished since the last call, each with its directive or its error."""
        done = []
        while True:
            try:
                done.append(self._done.get_nowait())
            except queue.Empty:
                return done

    def _work(self, item: tuple[Any, Directive | None, tuple[bytes, ...]]) -> None:
        ticket, directive, images = item
        if not ticket.is_wanted:
            return
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
        except Exception as error:  # the client needs a result in every case
            outcome = BadPicture(f"the picture could not be described: {error.__class__.__name__}")
        self._done.put((ticket, outcome))
