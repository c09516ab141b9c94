"""Tests of conversions of requested words and vocabulary reports."""

from __future__ import annotations

import pytest

pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from lodestar.perception.lookout import VocabularyReport, WantedWords, WordSight
from lodestar_interfaces import msg
from lodestar_ros.codec import BadMessage
from lodestar_ros.conversions_vocabulary import report_from_msg, report_to_msg, wanted_from_msg, wanted_to_msg


def test_words_and_answers_survive_the_way() -> None:
    wanted = WantedWords("a-w1", ("fire extinguisher", "chair"))
    assert wanted_from_msg(wanted_to_msg(wanted)) == wanted
    sights = (WordSight("fire extinguisher", nearest="bottle"), WordSight("chair", "chair"))
    report = VocabularyReport(
        "a-w1", "onnx:nanodet.onnx", False, ("chair", "bottle"), sights, "no text model"
    )
    assert report_from_msg(report_to_msg(report)) == report
    assert report_from_msg(msg.VocabularyReport()) == VocabularyReport()


@pytest.mark.parametrize("words", [["x" * 1000], [""], ["word"] * 1000], ids=["long", "empty", "many"])
def test_more_words_than_a_directive_has_are_refused_with_a_sentence(words: list[str]) -> None:
    with pytest.raises(BadMessage, match="of 1 to 64 letters"):
        wanted_from_msg(msg.WantedWords(id="bad", words=words))
