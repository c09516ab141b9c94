"""Tests of a journal file: complete lines are restored, damaged ones named, another version's file is set aside."""

from __future__ import annotations

import pytest
from msgspec import Struct

from lodestar.storage.journal_file import JournalFile


@pytest.fixture
def path(tmp_path):
    return tmp_path / "private" / "world.journal"


def opened(path, version=1, **options):
    return JournalFile(path, "test", version, dict, **options)


def test_what_was_appended_comes_back(path):
    journal = opened(path)
    for number in range(3):
        journal.append({"op": "entry", "number": number})
    again = opened(path)  # the first one was never closed, as after kill -9
    assert [line["number"] for line in again.lines] == [0, 1, 2] and not again.problems
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_torn_last_line_is_cut_off_and_named(path):
    opened(path).append({"number": 1})
    whole = path.read_bytes()
    path.write_bytes(whole + b'12345678 {"number": 2')
    again = opened(path)
    assert [line["number"] for line in again.lines] == [1]
    assert again.problems == ["line 3 is cut off and was left out"]
    again.append({"number": 3})
    assert [line["number"] for line in opened(path).lines] == [1, 3]


def test_a_damaged_line_in_the_middle_is_named_and_the_rest_kept(path):
    journal = opened(path)
    for number in (1, 2, 3):
        journal.append({"number": number})
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b"2", b"7")
    path.write_bytes(b"\n".join(lines))
    again = opened(path)
    assert [line["number"] for line in again.lines] == [1, 3]
    assert again.problems == ["line 3 is damaged and was left out"]


@pytest.mark.parametrize("content", [None, b"something else\n"])
def test_another_version_or_file_is_put_aside(path, content):
    opened(path, version=2).append({"number": 1})
    if content is not None:
        path.write_bytes(content)
    before = path.read_bytes()
    again = opened(path)
    assert again.lines == [] and "was put aside" in again.problems[0]
    assert path.with_name("world.journal.aside").read_bytes() == before
    again.append({"number": 5})
    assert [line["number"] for line in opened(path).lines] == [5]


def test_a_full_journal_is_rewritten_in_one_step(path):
    journal = opened(path, max_bytes=200)
    while not journal.is_full:
        journal.append({"number": 1})
    journal.rewrite([{"number": 9}])
    journal.append({"number": 10})
    assert not journal.is_full
    assert [line["number"] for line in opened(path).lines] == [9, 10]


def test_a_journal_that_is_made_small_keeps_the_lines_that_it_cannot_read(path):
    opened(path).append({"number": 1, "of": "a newer version"})
    journal = JournalFile(path, "test", 1, _Numbered)
    assert journal.lines == [] and len(journal.left_out) == 1
    journal.rewrite([_Numbered("7")])
    journal.append(_Numbered("8"))
    assert [line["number"] for line in opened(path).lines] == ["7", 1, "8"]


class _Numbered(Struct):
    number: str


def test_a_line_that_no_file_can_hold_is_refused_and_nothing_written(path):
    journal = opened(path)
    with pytest.raises(ValueError, match="no form in JSON"):
        journal.append({"number": {1, object()}})
    assert opened(path).lines == []
