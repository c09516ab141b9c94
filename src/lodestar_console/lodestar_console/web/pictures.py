"""Pictures of targets that pages upload: checked by their first bytes, few, and soon gone."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from lodestar_console.web.stack_port import Upload

MOST = 8
LASTS = 600.0  # s
_FORMS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}


class PictureShelf:
    """The newest uploads by their id."""

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._pictures: OrderedDict[str, tuple[float, Upload]] = OrderedDict()

    def put(self, data: bytes, by: str) -> str:
        """Return the id of a new picture. Raises ValueError for another form than JPEG and PNG."""
        media = next((form for start, form in _FORMS.items() if data.startswith(start)), None)
        if media is None:
            raise ValueError("The picture is neither JPEG nor PNG.")
        key = secrets.token_urlsafe(9)
        self._pictures[key] = self._steady() + LASTS, Upload(data, media, by)
        while len(self._pictures) > MOST:
            self._pictures.popitem(last=False)
        return key

    def take(self, key: str) -> Upload | None:
        """Return a picture, None where it is gone."""
        until, picture = self._pictures.get(key, (0.0, None))
        return picture if self._steady() <= until else None
