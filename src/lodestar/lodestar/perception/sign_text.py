"""Text of signs: untrusted, cleaned, and quoted in captions so that it cannot end the quotation."""

from __future__ import annotations

import re
import unicodedata

SIGN = "sign"  # label of detections that are signs
MAX_TEXT = 60  # most characters
_QUOTES = str.maketrans({'"': "'", "\u201c": "'", "\u201d": "'", "\u00ab": "'", "\u00bb": "'"})
_MARKS = " []{}()<>|,.;:_-~*"  # characters removed at the ends of a line: mostly the edges of a plate
_CAPTION = re.compile(r'"([^"]*)" sign$')


def clean_sign(text: str) -> str:
    """Return recognised text as one clean line without control characters; "" if it has no content.

    Marks that turn the direction of writing are removed, so that right-to-left text stays inside its
    quotation. A single character is dropped, because an edge is easily read as I or 1. At most MAX_TEXT
    characters are kept.
    """
    normal = unicodedata.normalize("NFKC", text[: 8 * MAX_TEXT])
    printable = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in normal)
    said = " ".join(printable.translate(_QUOTES).split())[:MAX_TEXT].strip(_MARKS)
    return said if sum(c.isalnum() for c in said) >= 2 else ""


def sign_caption(text: str) -> str:
    """Return the caption of a sign with this text: "EXIT" sign, including the quotation marks."""
    return f'"{clean_sign(text)}" {SIGN}'


def sign_text(caption: str) -> str:
    """Return the text of a sign from its caption; "" for other captions."""
    match = _CAPTION.match(caption)
    return match[1] if match else ""
