"""Tests of the grammar's tables in the user's cache."""

from __future__ import annotations

import pytest
from parglare import Grammar

from lodestar.language import chart
from lodestar.language.chart_tables import KEPT, parser_of
from lodestar.storage.private import cache_folder

TEXT = "pair: A B | A;\nterminals\nA: 'a';\nB: 'b';"


def parser(folder, text=TEXT):
    return parser_of("pair", text, Grammar.from_string(text), None, folder)


def accepts(one, text):
    try:
        return len(one.parse(text)) > 0
    except Exception as error:
        assert "expected" in str(error).casefold()
        return False


def test_tables_are_kept_and_read_back(tmp_path):
    built = parser(tmp_path)
    (path,) = tmp_path.glob("pair-*.json")
    before = path.stat().st_mtime_ns
    loaded = parser(tmp_path)
    assert path.stat().st_mtime_ns == before
    for text in ("ab", "a", "b", "ba"):
        assert accepts(loaded, text) == accepts(built, text)


def test_other_rules_have_other_tables(tmp_path):
    parser(tmp_path)
    other = parser(tmp_path, TEXT.replace("A B | A", "B A"))
    assert accepts(other, "ba")
    assert not accepts(other, "ab")
    assert len(list(tmp_path.glob("pair-*.json"))) == 2


def test_few_versions_are_kept(tmp_path):
    for i in range(KEPT + 3):
        parser(tmp_path, TEXT + "\n" * (i + 1))
    assert len(list(tmp_path.glob("pair-*.json"))) == KEPT


@pytest.mark.parametrize("damage", ["", "{", '{"format_version": 99}', "[]", "\x00" * 100])
def test_a_damaged_file_is_built_anew(tmp_path, damage):
    parser(tmp_path)
    (path,) = tmp_path.glob("pair-*.json")
    path.write_text(damage)
    assert accepts(parser(tmp_path), "ab")


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    assert accepts(parser(tmp_path / "file" / "below"), "ab")


def test_the_folder_is_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("LODESTAR_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("charts") == tmp_path / "lodestar" / "charts"


def test_the_chart_reads_the_same_from_kept_tables(monkeypatch, tmp_path):
    from lodestar.language.question_words import question_lattice

    monkeypatch.delenv("LODESTAR_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = ["since", "you", "entered", "the", "kitchen"]
    found = []
    for _ in range(2):
        chart.load_chart.cache_clear()
        found.append(chart.load_chart("window_of_time").readings(question_lattice(words)))
    chart.load_chart.cache_clear()
    assert found[0] == found[1]
    assert found[0]
