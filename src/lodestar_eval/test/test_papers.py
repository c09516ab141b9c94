"""Tests of the page that sets our recorded figures beside those of the papers."""

from __future__ import annotations

import argparse
import copy
import re
from datetime import date

import pytest
import yaml

from lodestar_eval.benchmarks import papers
from lodestar_eval.registry import BadOptions

DOCS = papers.FOLDER
SOURCE = yaml.safe_load((papers.FOLDER / papers.SOURCE).read_text())


def quotes():
    """Yield every quotation of the source: page, heading, beginning of the line, figure."""
    for paper in SOURCE["papers"]:
        for table in paper["tables"]:
            for row in table["rows"]:
                place = row.get("from", table.get("from"))
                for start, figure in row.get("figures", ()):
                    yield place["page"], place["under"], start, figure


def with_table(**changes):
    """Return the source with other keys of its first table; None takes one away."""
    source = copy.deepcopy(SOURCE)
    table = source["papers"][0]["tables"][0]
    table.update(changes)
    for key in [key for key, value in table.items() if value is None]:
        del table[key]
    return source


def test_the_page_is_what_the_command_writes():
    assert papers.page_of(SOURCE) == (papers.FOLDER / papers.PAGE).read_text(), (
        "run python -m lodestar_eval papers"
    )


def test_every_paper_has_its_tables_and_none_is_set_as_better():
    text = papers.page_of(SOURCE)
    for name in (
        "Fig. 6(a)", "Fig. 6(b)", "Table II", "Tables III and IV", "Table V", "Table VI", "Table VII", "Table VIII",
        "1,803 m2", "Table 1(a)", "Table 1(b)", "Table 2(a)", "Table 2(b)", "Table 10", "Table I, NaVQA",
        "Table II, WH-VQA", "Runtimes", "Table 1, A-EQA", "Table 2, EM-EQA", "Table 3, GOAT", "Table 4", "Table 5",
        "Table 6",
    ):  # fmt: skip
        assert name in text
    tables = [table for paper in SOURCE["papers"] for table in paper["tables"]]
    compared = [row for table in tables if "comparable" in table for row in table["rows"]]
    assert compared and not any("paper" in row for row in compared)  # only methods that we ran ourselves


@pytest.mark.parametrize(("page", "under", "start", "figure"), sorted(set(quotes())))
def test_a_figure_that_the_page_does_not_have_is_refused(page, under, start, figure):
    lines, _ = papers.section(page, under)
    assert papers.quoted(lines, start, figure).startswith(figure)
    last = max(index for index, letter in enumerate(figure) if letter.isdigit())
    longer = f"{figure[: last + 1]}7{figure[last + 1 :]}"
    shorter = [figure[:last] + figure[last + 1 :]] if len(figure) > 2 else []  # 1 of 12 may stand by itself
    first = next(index for index, letter in enumerate(figure) if letter.isdigit())
    for wrong in (longer, *shorter, f"{figure[:first]}9{figure[first:]}", f"-{figure}"):
        with pytest.raises(BadOptions, match="has no line"):
            papers.quoted(lines, start, wrong)
    with pytest.raises(BadOptions, match="has no line"):
        papers.quoted(lines, "a line that is not there", figure)


def test_the_command_refuses_a_figure_that_drifted(tmp_path, monkeypatch):
    for file in papers.FOLDER.glob("*.md"):
        (tmp_path / file.name).write_text(file.read_text())
    lifelong = tmp_path / "lifelong.md"
    lifelong.write_text(lifelong.read_text().replace("0.952 (0.920", "0.951 (0.920"))
    (tmp_path / papers.SOURCE).write_text((papers.FOLDER / papers.SOURCE).read_text())
    monkeypatch.setattr(papers, "FOLDER", tmp_path)
    before = (tmp_path / papers.PAGE).read_text()
    with pytest.raises(BadOptions, match=re.escape("0.952 (0.920 to 0.979)")):
        papers.BENCHMARK.run(argparse.Namespace(), tmp_path, print)
    assert (tmp_path / papers.PAGE).read_text() == before
    lifelong.write_text((DOCS / "lifelong.md").read_text())
    (tmp_path / papers.PAGE).unlink()
    metrics = papers.BENCHMARK.run(argparse.Namespace(), tmp_path, print).metrics
    assert (tmp_path / papers.PAGE).read_text() == before
    assert metrics["old"] > 0 and metrics["not comparable"] > 10


@pytest.mark.parametrize("changes", [{"why": None}, {"comparable": "the same"}])
def test_a_table_has_one_verdict(changes):
    with pytest.raises(BadOptions, match="give one of why, comparable, missing"):
        papers.page_of(with_table(**changes))


def test_a_figure_is_old_after_a_change_of_its_area_or_by_its_age():
    lines = papers.page_of(SOURCE).splitlines()
    (new,) = [line for line in lines if "aee0831d" in line]
    assert "**old**" not in new
    later = copy.deepcopy(SOURCE)
    later["changes"]["search"]["date"] = date(2100, 1, 1)
    assert f"{new[:-2]}, **old** |" in papers.page_of(later).splitlines()
    quiet = copy.deepcopy(SOURCE)
    for change in quiet["changes"].values():
        change["date"] = date.min
    assert ", **old**" not in papers.page_of(quiet)
    assert 1 <= sum(", **old**" in row[3] for row in papers._rows(  # by age alone
        quiet["papers"][0]["tables"][0], quiet["changes"], date(2026, 11, 24)
    )) < 4  # fmt: skip


def test_a_heading_must_be_the_only_one():
    with pytest.raises(BadOptions, match="not one"):
        papers.section("episodes", "2026-11-28")
    with pytest.raises(BadOptions, match="0 headings"):
        papers.section("episodes", "2001-01-01")
