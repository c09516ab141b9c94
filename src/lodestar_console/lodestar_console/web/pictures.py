"""Uploaded pictures of targets: type checked by their first bytes, limited in number and lifetime."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict

from lodestar_console.web.stack_port import Upload

MOST = 8
LASTS = 600.0  # s, lifetime of a picture
_FORMS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}


class PictureShelf:
    """Store of the newest uploads by id. Used on the web server's loop only."""

    def __init__(self) -> None:
        self._pictures: OrderedDict[str, Upload] = OrderedDict()

    def put(self, data: bytes, by: str) -> str:
        """Store a picture and return its id. Raises ValueError unless it is JPEG or PNG."""
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
        """Return a picture by id, None if unknown or expired."""
        return self._pictures.get(key)
