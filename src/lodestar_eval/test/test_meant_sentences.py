"""Tests of sentences with meanings in shorthand, and of the parser's readings of our own ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lodestar.assembly import parts
from lodestar.language.grammar import parse_directive
from lodestar_eval.meant_sentences import read_sentences, score_line
from lodestar_eval.registry import BadOptions
from lodestar_eval.studies.directives import read_lines

CORPUS = Path(__file__).parents[2] / "lodestar" / "test" / "language" / "spoken_sentences.yaml"


def line_of(tmp_path, text, meaning):
    path = tmp_path / "said.yaml"
    path.write_text(f'"{text}": "{meaning}"')
    (line,) = read_sentences(path)
    return line


@pytest.mark.parametrize(
    ("text", "meaning", "is_right"),
    [
        ("go to the hall, find the mug and avoid the dog", "go hall; find mug ! dog", True),
        ("go to the hall and find the mug", "go hall; find mug ! dog", False),
        ("find the mug and avoid the dog", "find mug", False),
        ("find the mug", "count mug | find mug", True),
        ("find the mug", "count mug", False),
        ("go to the red room or the blue room", "go red room/blue room", True),
        ("sing a song", "-", True),
        ("find the mug", "-", False),
        ("come back", "return", True),
    ],
)
def test_kinds_heads_and_bans_are_told_apart(tmp_path, text, meaning, is_right):
    score = score_line(line_of(tmp_path, text, meaning), parse_directive)
    assert (score.outcome in ("exact", "partial")) is is_right


def test_a_file_that_maps_nothing_is_refused(tmp_path):
    path = tmp_path / "said.yaml"
    for text in ("- find the mug", '"find: ['):
        path.write_text(text)
        with pytest.raises(BadOptions, match="cannot be read"):
            read_lines(path)


def test_our_sentences_are_seldom_misread_and_no_ban_is_lost():
    """Both halves: the bars are those of `directives_dev`, with a margin for the small numbers of sentences."""
    outcomes, lost, asked_of_right = Counter(), 0, 0
    ask = parts.directive_parser()
    lines = read_lines(CORPUS)
    assert {len(read_lines(CORPUS, part)) for part in ("seen", "heldback")} == {89, 103}
    for line in lines:
        score = score_line(line, ask)
        outcomes[score.outcome] += 1
        lost += score.lost
        if score.is_asked_back:
            asked_of_right += score_line(line, parse_directive).outcome == "exact"
    assert lost == 0
    assert outcomes["misread"] <= 0.10 * len(lines), outcomes
    assert asked_of_right <= 0.05 * outcomes["exact"], asked_of_right
