"""Text of signs: untrusted, cleaned, and written into captions as a quotation that it cannot leave."""

from __future__ import annotations

import re
import unicodedata

SIGN = "sign"  # label of what text was read from
MAX_TEXT = 60  # characters
_QUOTES = str.maketrans({'"': "'", "\u201c": "'", "\u201d": "'", "\u00ab": "'", "\u00bb": "'"})
_MARKS = " []{}()<>|,.;:_-~*"  # at the ends of a line: mostly the edges of a plate
_CAPTION = re.compile(r'"([^"]*)" sign$')


def clean_sign(text: str) -> str:
    """Return what was read on one line, in reading order, without control characters; "" where it says nothing.

    Marks that turn the direction of writing are removed, so that right-to-left text stays inside its quotation. One
    character alone says nothing: an edge is easily read as I or 1. At most MAX_TEXT characters are kept.
    """
    normal = unicodedata.normalize("NFKC", text[: 8 * MAX_TEXT])
    printable = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in normal)
    said = " ".join(printable.translate(_QUOTES).split())[:MAX_TEXT].strip(_MARKS)
    return said if sum(c.isalnum() for c in said) >= 2 else ""


def sign_caption(text: str) -> str:
    """Return the caption of a sign that says `text`: "EXIT" sign, with the quotation marks."""
    return f'"{clean_sign(text)}" {SIGN}'


def sign_text(caption: str) -> str:
    """Return what a caption says that a sign says; "" where it is no such caption."""
    match = _CAPTION.match(caption)
    return match[1] if match else ""
