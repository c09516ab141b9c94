"""Conversion of the words that perception looks for, and of its vocabulary, to and from messages."""

from __future__ import annotations

from lodestar.perception.lookout import MOST_LETTERS, VocabularyReport, WantedWords, WordSight
from lodestar_interfaces import msg
from lodestar_ros.codec import BadMessage, codec

_MOST_WORDS = 256  # most words in one message; a directive has far fewer
wanted_to_msg, _wanted_from_msg = codec(WantedWords, msg.WantedWords)
codec(WordSight, msg.WordSight)
report_to_msg, report_from_msg = codec(VocabularyReport, msg.VocabularyReport)


def wanted_from_msg(message: msg.WantedWords) -> WantedWords:
    """Return the wanted words. Raises BadMessage for more or longer words than a directive can have."""
    wanted: WantedWords = _wanted_from_msg(message)
    if len(wanted.words) > _MOST_WORDS or any(not 0 < len(word) <= MOST_LETTERS for word in wanted.words):
        raise BadMessage(f"at most {_MOST_WORDS} wanted words are taken, of 1 to {MOST_LETTERS} letters each")
    return wanted
