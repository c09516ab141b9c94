"""Tests of the harness of studies: its statistics, and runs that are interrupted, damaged or refused."""

from __future__ import annotations

import argparse
import errno
import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.storage import files
from lodestar_eval import __main__ as command
from lodestar_eval.metrics import share, share_interval
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import EACH, Kept, Limit, Number, Paired, Study, Whole, count, percentile

CASES = 6
MEASURED: list[int] = []
INTERRUPT_AT: set[int] = set()


def measure(seed: int):
    """Return two rows of a seed, none of seed 4; interrupted at the calls named in INTERRUPT_AT."""
    MEASURED.append(seed)
    if len(MEASURED) in INTERRUPT_AT:
        raise KeyboardInterrupt
    if seed == 4:
        return []
    return [
        {"seed": seed, "arm": arm, "metres": np.float64(seed + k), "_odd": seed % 2 == 1}
        for k, arm in enumerate("ab")
    ]


def measure_or_die(seed: int):
    """Return the rows of a seed; seed 2 kills its process."""
    if seed == 2:
        os._exit(3)
    return [{"seed": seed}]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=CASES)
    parser.add_argument("--jobs", type=int, default=1)


STUDY = Study(
    "walks", "Walks of two arms.", add_options, lambda options: [(seed,) for seed in range(options.count)], measure,
    numbers=(Number("metres", by=("arm",)), Number("odd", "_odd"), Paired("shorter", "metres", "arm", ("a", "b"))),
    bars=(Limit("metres.a", 2.0, name="metres of the case from {first} to {last}"), Limit("missing", 1.0)),
    columns=("seed", "arm", "metres"), left_out="because it is four",
)  # fmt: skip


def run(folder, *arguments, study=STUDY):
    parser = argparse.ArgumentParser()
    study.add_options(parser)
    lines: list[str] = []
    return study.run(parser.parse_args(arguments), folder, lines.append), lines


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr("lodestar_eval.study.code_digest", lambda: "code")
    MEASURED.clear()
    INTERRUPT_AT.clear()


def test_metrics_bars_and_tables_follow_from_the_rows(tmp_path):
    result, lines = run(tmp_path)
    seeds = [0, 1, 2, 3, 5]
    assert result.metrics.pop("wall_s") >= 0.0
    assert result.metrics == {
        "metres.a": np.mean(seeds), "metres.b": np.mean(seeds) + 1.0, "odd": 0.6, "shorter": -1.0,
        "shorter_low": -1.0, "shorter_high": -1.0, "left_out": 1.0,
    }  # fmt: skip
    assert [(bar.name, bar.holds) for bar in result.bars] == [("metres of the case from 0 to 5", True)]
    assert result.tables[0].rows == (("a", "2.200"), ("b", "3.200")) and len(result.tables[1].rows) == 10
    assert len(lines) == CASES and "s left" in lines[0] and "left out" in lines[4]
    assert result.notes == ("Left out, because it is four: 4.",)
    assert (tmp_path / "walks.csv").read_text().splitlines()[:2] == ["seed,arm,metres", "0,a,0.0"]


def test_statistics_of_groups():
    rows = [
        {"kind": "x", "ok": True, "ms": [1.0, 3.0], "of": 2.0}, {"kind": "x", "ok": False, "ms": [5.0], "of": 2.0},
        {"kind": "y", "ok": True, "ms": [], "of": 1.0}, {"other": 1.0},
    ]  # fmt: skip

    def shares(rows):
        return {"share": share(sum(row["ok"] for row in rows), sum(row["of"] for row in rows))}

    numbers = (
        Number("{kind}.ok", "ok", by=("kind",)), Number("_n", "ok", count, by=("kind",), digits=0),
        Number("p50", "ms", percentile(50)), Number("none", "ok", where=lambda row: row.get("kind") == "z"),
        Whole(shares, ("kind",)), Number("missing"),
    )  # fmt: skip
    result = Study("s", "", add_options, lambda _: (), measure, numbers).result(rows)
    low, high = share_interval(1, 2)
    assert result.metrics == {"x.ok": 0.5, "y.ok": 1.0, "p50": 3.0, "share.x": 0.25, "share.y": 1.0}
    assert result.tables[0].columns == ("kind", "ok", "n")
    assert result.tables[0].rows[0] == ("x", f"0.500 ({low:.2f} to {high:.2f})", "2")
    each = Study("s", "", add_options, lambda _: (), measure, (Number(EACH, by=("size",)),))
    assert each.result([{"size": 3, "ms": 2.0}, {"size": 30, "ms": 4.0}]).metrics == {
        "ms.3": 2.0,
        "ms.30": 4.0,
    }


@given(
    stops=st.lists(st.integers(1, 2 * CASES), max_size=4, unique=True),
    cuts=st.lists(st.integers(0, 120), max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_whatever_interrupts_a_run_no_case_is_lost_and_none_measured_twice(tmp_path_factory, stops, cuts):
    """A run is interrupted at any calls, and what it wrote last is cut short; then it is begun again."""
    folder, whole = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("whole")
    MEASURED.clear()
    INTERRUPT_AT.clear()
    INTERRUPT_AT.update(stops)
    file, lost = folder / "walks.cases.jsonl", 0
    while True:
        try:
            result, _ = run(folder)
            break
        except KeyboardInterrupt as stop:
            assert "same command" in str(stop)
            cut = cuts.pop() if cuts else 0
            data = file.read_bytes() if file.exists() else b""
            last = len(data) - (data[:-1].rfind(b"\n") + 1)  # only the last line was being written
            if data and cut:
                file.write_bytes(data[: len(data) - min(cut, last)])
                lost += 1
    assert len(MEASURED) == CASES + len([at for at in stops if at <= len(MEASURED)]) + lost
    MEASURED.clear()
    INTERRUPT_AT.clear()
    expected, _ = run(whole)
    for one in (result, expected):
        one.metrics.pop("wall_s")
    assert (result.metrics, result.tables) == (expected.metrics, expected.tables)
    assert (folder / "walks.csv").read_text() == (whole / "walks.csv").read_text()


def test_a_longer_run_measures_what_is_new_and_anew_measures_all(tmp_path):
    run(tmp_path, "--count", "2")
    result, lines = run(tmp_path, "--count", "4")
    assert MEASURED == [0, 1, 2, 3] and "2 of 4 cases" in lines[0] and lines[0] in result.notes
    run(tmp_path, "--count", "2", "--anew")
    assert MEASURED == [0, 1, 2, 3, 0, 1]


def test_other_code_measures_again(tmp_path, monkeypatch):
    run(tmp_path, "--count", "1")
    monkeypatch.setattr("lodestar_eval.study.code_digest", lambda: "other")
    run(tmp_path, "--count", "1")
    assert MEASURED == [0, 0] and len((tmp_path / "walks.cases.jsonl").read_text().splitlines()) == 2


def test_a_process_that_dies_loses_its_own_case_alone(tmp_path):
    """Starts worker processes, which takes a few seconds."""
    study = Study("deaths", "", add_options, STUDY.cases, measure_or_die, (Number("seeds", "seed", count),))
    result, lines = run(tmp_path, "--count", "4", "--jobs", "2", study=study)
    assert result.metrics == {"seeds": 3.0}
    assert any("measured 2 died" in line for line in lines) and any("2 died" in note for note in result.notes)
    assert [
        row["seed"] for row in Kept(tmp_path / "deaths.cases.jsonl", ()).rows.values() for row in row
    ] != []


@pytest.mark.parametrize("text", ["not json\n", '{"seed": 1}\n', "[1]\n", '{"case": "a", "rows": 3}\n'])
def test_results_of_another_form_are_refused_and_kept(tmp_path, text, capsys, monkeypatch):
    monkeypatch.setattr(command, "all_benchmarks", lambda: {"walks": STUDY})
    file = tmp_path / "walks.cases.jsonl"
    file.write_text(text)
    assert command.main(["walks", "--out", str(tmp_path)]) == command.EXIT_USAGE
    assert file.read_text() == text and "another form" in capsys.readouterr().err and not MEASURED


def test_a_full_disk_is_told_and_what_was_measured_is_kept(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(command, "all_benchmarks", lambda: {"walks": STUDY})
    (tmp_path / "walks.part").symlink_to("/dev/full")  # the unfinished CSV
    assert command.main(["walks", "--out", str(tmp_path)]) == command.EXIT_USAGE
    error = capsys.readouterr().err
    assert "No space left" in error and "kept" in error and error.count("\n") == 1
    (tmp_path / "walks.part").unlink()
    run(tmp_path)
    assert len(MEASURED) == CASES


def test_a_case_that_the_disk_has_no_room_for_is_told_and_earlier_ones_are_kept(tmp_path, monkeypatch):
    written = []

    def append(path, line):
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(line)
        files.append_line(path, line)

    monkeypatch.setattr("lodestar_eval.study.append_line", append)
    with pytest.raises(BadOptions, match="No space left"):
        run(tmp_path)
    monkeypatch.undo()
    monkeypatch.setattr("lodestar_eval.study.code_digest", lambda: "code")
    run(tmp_path)
    assert MEASURED == [0, 1, 2, 3, 3, 4, 5]


@pytest.mark.parametrize(
    "arguments, status, said",
    [
        (["--nothing"], 2, "unrecognized arguments"), (["--count", "0"], 2, "nothing to measure"),
        (["--count", "x"], 2, "invalid int"), (["--count", "3"], 130, "interrupted: 1 cases are kept"),
    ],
)  # fmt: skip
def test_bad_options_and_ctrl_c_end_with_a_sentence(tmp_path, arguments, status, said, capsys, monkeypatch):
    monkeypatch.setattr(command, "all_benchmarks", lambda: {"walks": STUDY})
    INTERRUPT_AT.add(2)
    assert command.main(["walks", "--out", str(tmp_path), *arguments]) == status
    assert said in capsys.readouterr().err
    with pytest.raises(BadOptions, match="no case has a result"):
        empty = Study("empty", "", add_options, STUDY.cases, lambda seed: [], ())
        run(tmp_path, study=empty)


def test_rows_keep_numbers_that_json_lacks(tmp_path):
    study = Study(
        "odd", "", add_options, lambda _: [(1,)], lambda _: [{"a": float("nan"), "b": np.arange(2)}], ()
    )
    run(tmp_path, study=study)
    (line,) = (tmp_path / "odd.cases.jsonl").read_text().splitlines()
    (row,) = json.loads(line)["rows"]
    assert np.isnan(row["a"]) and row["b"] == [0, 1]
