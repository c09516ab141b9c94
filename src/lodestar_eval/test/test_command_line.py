"""Tests of `python -m lodestar_eval`: its list, its error messages and its files."""

from __future__ import annotations

import json
import shlex

import pytest

from lodestar_eval import __main__ as command
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Plot, Result, Table, all_benchmarks


def coin(value: float = 0.5, error: Exception | None = None) -> Benchmark:
    def add_options(parser):
        parser.add_argument("--throws", type=int, default=3)
        parser.add_argument("--metals", type=lambda text: tuple(text.split(",")), default=("copper",))

    def run(options, folder, progress):
        if error:
            raise error
        progress(f"{options.throws} throws")
        (folder / "coin.png").write_bytes(b"")
        return Result(
            metrics={"heads": value, "nothing": float("nan")},
            bars=(Bar("heads", value, 0.4),),
            tables=(Table("Throws", ("number", "side"), (("1", "a|b"),)),),
            plots=(Plot("coin.png", "A coin"),),
            config={"metal": "copper"},
        )

    return Benchmark("coin", "Throws a coin.", add_options, run)


@pytest.fixture
def only(monkeypatch):
    def install(benchmark: Benchmark) -> None:
        monkeypatch.setattr(command, "all_benchmarks", lambda: {benchmark.name: benchmark})

    return install


def test_without_a_name_it_lists_every_benchmark(capsys):
    assert command.main([]) == command.EXIT_OK
    listed = capsys.readouterr().out
    assert "episodes" in listed
    assert all(name in listed and b.summary in listed for name, b in all_benchmarks().items())


def test_an_unknown_name_is_refused_with_the_list(capsys):
    assert command.main(["episods", "--out", "x"]) == command.EXIT_USAGE
    error = capsys.readouterr().err
    assert "'episods'" in error and "episodes" in error


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["episodes", "--out", "{out}", "--seeds", "3-1"], "3-1"),
        (["episodes", "--out", "{out}", "--seeds", "x"], "x"),
        (["episodes", "--out", "{out}", "--jobs", "0"], "0"),
        (["episodes", "--out", "{out}", "--colour", "red"], "--colour"),
        (["episodes", "--out", "{out}", "--world", "nowhere", "--seeds", "1"], "nowhere"),
    ],
)
def test_bad_options_are_refused(arguments, complaint, capsys, tmp_path):
    assert command.main([a.format(out=tmp_path / "o") for a in arguments]) == command.EXIT_USAGE
    assert complaint in capsys.readouterr().err


def test_a_folder_that_is_a_file_is_refused(only, tmp_path, capsys):
    only(coin())
    (tmp_path / "file").write_text("")
    assert command.main(["coin", "--out", str(tmp_path / "file")]) == command.EXIT_USAGE
    assert "file" in capsys.readouterr().err


def test_options_that_make_no_sense_together_are_refused(only, tmp_path, capsys):
    only(coin(error=BadOptions("a coin has two sides")))
    assert command.main(["coin", "--out", str(tmp_path)]) == command.EXIT_USAGE
    assert "a coin has two sides" in capsys.readouterr().err


def test_the_report_has_the_schema(only, tmp_path, capsys):
    only(coin())
    assert command.main(["coin", "--throws", "7", "--out", str(tmp_path)]) == command.EXIT_OK
    assert "7 throws" in capsys.readouterr().out
    data = json.loads((tmp_path / "coin.json").read_text(), parse_constant=pytest.fail)
    assert list(data) == ["benchmark", "config", "machine", "metrics", "bars"]
    assert data["benchmark"] == "coin"
    assert data["config"] == {"options": {"throws": 7, "metals": ["copper"]}, "metal": "copper"}
    assert data["machine"]["cores"] >= 1 and data["machine"]["memory_gib"] > 0
    assert data["metrics"] == {"heads": 0.5, "nothing": None}
    assert data["bars"] == [{"name": "heads", "value": 0.5, "bound": 0.4, "holds": True}]
    page = (tmp_path / "coin.md").read_text()
    assert "| heads | 0.5 | ≥ 0.4 | yes |" in page
    assert "python -m lodestar_eval coin --throws 7" in page
    assert "a\\|b" in page and "![A coin](coin.png)" in page


def test_the_command_of_the_report_runs_again_when_it_is_pasted(only, tmp_path, capsys):
    only(coin())
    given = ["coin", "--metals", "gold,old silver", "--out", str(tmp_path)]
    assert command.main(given) == command.EXIT_OK
    pasted = shlex.split((tmp_path / "coin.md").read_text().split("```")[1])
    assert pasted == ["python", "-m", "lodestar_eval", *given]


def test_a_benchmark_that_is_not_told_where_has_a_folder_of_its_own(only, tmp_path, monkeypatch, capsys):
    only(coin())
    monkeypatch.chdir(tmp_path)
    assert command.main(["coin"]) == command.EXIT_OK
    assert (tmp_path / "out" / "bench" / "coin" / "coin.json").is_file()
    assert "report: out/bench/coin/coin.md" in capsys.readouterr().out


def test_a_missed_bar_is_reported_and_gives_status_one(only, tmp_path, capsys):
    only(coin(0.3))
    assert command.main(["coin", "--out", str(tmp_path)]) == command.EXIT_BAR_MISSED
    assert "MISSED heads" in capsys.readouterr().out
    assert "**no**" in (tmp_path / "coin.md").read_text()


def test_a_bar_without_a_value_does_not_hold():
    assert not Bar("x", float("nan"), 0.0).holds
    assert not Bar("x", float("nan"), 0.0, at_least=False).holds
    assert Bar("x", 3.0, 3.0, at_least=False).holds


def test_all_runs_every_benchmark_and_leaves_out_what_needs_a_name(monkeypatch, tmp_path, capsys):
    def needs_a_recording(parser):
        parser.add_argument("recording")

    low, blank, closed = coin(0.1), coin(), coin(error=BadOptions("no data: set LODESTAR_DATA"))
    benches = {
        "low": Benchmark("low", "Low.", low.add_options, low.run),
        "record": Benchmark("record", "Plays.", needs_a_recording, blank.run),
        "data": Benchmark("data", "Data.", closed.add_options, closed.run),
        "coin": coin(),
    }
    monkeypatch.setattr(command, "all_benchmarks", lambda: benches)
    monkeypatch.chdir(tmp_path)
    assert command.main(["all"]) == command.EXIT_BAR_MISSED
    printed = capsys.readouterr()
    ends = dict(line.split(maxsplit=1) for line in printed.out.splitlines()[-4:])
    assert ends == {
        "low": "a bar is missed", "record": "left out: see above", "data": "left out: see above",
        "coin": "all bars hold",
    }  # fmt: skip
    assert "LODESTAR_DATA" in printed.err and (tmp_path / "out/bench/coin/coin.md").exists()
    assert command.main(["all", "--seeds", "1"]) == command.EXIT_USAGE
    del benches["low"]
    assert command.main(["all"]) == command.EXIT_OK
