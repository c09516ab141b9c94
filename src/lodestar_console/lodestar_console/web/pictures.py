"""Pictures of targets that pages upload: checked by their first bytes, few, and soon gone."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict

from lodestar_console.web.stack_port import Upload

MOST = 8
LASTS = 600.0  # s
_FORMS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}


class PictureShelf:
    """The newest uploads by their id. Used on the web server's loop alone."""

    def __init__(self) -> None:
        self._pictures: OrderedDict[str, Upload] = OrderedDict()

    def put(self, data: bytes, by: str) -> str:
        """Return the id of a new picture. Raises ValueError for another form than JPEG and PNG."""
        media = next((form for start, form in _FORMS.items() if data.startswith(start)), None)
        if media is None:
            raise ValueError("The picture is neither JPEG nor PNG.")
        key = secrets.token_urlsafe(9)
        self._pictures[key] = Upload(data, media, by)
        while len(self._pictures) > MOST:
            self._pictures.popitem(last=False)
        asyncio.get_running_loop().call_later(LASTS, self._pictures.pop, key, None)
        return key

    def take(self, key: str) -> Upload | None:
        """Return a picture, None where it is gone."""
        return self._pictures.get(key)
