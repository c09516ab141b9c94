"""Tests that links, parameters, commands and decisions named in the pages exist, and that pages stay short."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import declared
import pytest
import yaml

import lodestar_bringup.__main__ as bringup
from lodestar_bringup.options import StackOptions
from lodestar_bringup.stack import stack
from lodestar_eval.benchmarks import ratio
from lodestar_eval.registry import all_benchmarks
from lodestar_eval.tasks import prepare

PAGES = sorted(path for where in ("*.md", "docs/**/*.md", "src/*/*.md") for path in declared.ROOT.glob(where))
RECORDED = StackOptions(record=True, console=True)
HOW_TO = declared.ROOT / "docs" / "how-to"
DECISIONS = declared.ROOT / "docs" / "adr"
MEASUREMENTS = declared.ROOT / "docs" / "measurements"
TEXTS = {".py", ".md", ".yaml", ".yml", ".xml", ".sh", ".toml"}
OF_OTHERS = {  # files that a page has its reader write, and those of a driver
    "experts/beacon.py", "nodes/beacon_expert_node.py", "rviz_MID360_launch.py", "msg_MID360_launch.py",
}  # fmt: skip
OPTIONS = {  # where the options of a command are defined; benchmarks add theirs to those of the first
    "lodestar_bringup": ("lodestar_bringup/lodestar_bringup/__main__.py",),
    "lodestar_bringup.mission": (
        "lodestar_bringup/lodestar_bringup/mission.py", "lodestar_ros/lodestar_ros/terminal.py",
    ),
    "lodestar_eval": ("lodestar_eval/lodestar_eval/__main__.py",),
    "lodestar_eval.demo": ("lodestar_eval/lodestar_eval/demo/__main__.py",),
    "lodestar_eval.demo.replay": ("lodestar_eval/lodestar_eval/demo/replay.py",),
    "lodestar_eval.demo.ask": ("lodestar_eval/lodestar_eval/demo/ask.py",),
    "lodestar_ros.ask": ("lodestar_ros/lodestar_ros/ask.py", "lodestar_ros/lodestar_ros/terminal.py"),
    "lodestar_ros.correct": ("lodestar_ros/lodestar_ros/correct.py", "lodestar_ros/lodestar_ros/terminal.py"),
    "lodestar_ros.doctor": ("lodestar_ros/lodestar_ros/doctor/__main__.py", "lodestar_ros/lodestar_ros/terminal.py"),
    "lodestar_ros.why": ("lodestar_ros/lodestar_ros/why.py", "lodestar_ros/lodestar_ros/terminal.py"),
    "lodestar_ros.changes": ("lodestar_ros/lodestar_ros/changes.py", "lodestar_ros/lodestar_ros/terminal.py"),
    "lodestar_ros.hold": ("lodestar_ros/lodestar_ros/hold.py", "lodestar_ros/lodestar_ros/terminal.py"),
    "lodestar_ros.maps": ("lodestar_ros/lodestar_ros/maps.py", "lodestar_ros/lodestar_ros/terminal.py"),
    "lodestar_ros.send_directive": (
        "lodestar_ros/lodestar_ros/send_directive.py", "lodestar_ros/lodestar_ros/terminal.py",
    ),
    "lodestar_go2.nodes.try_stop": (
        "lodestar_go2/lodestar_go2/nodes/try_stop.py", "lodestar_ros/lodestar_ros/terminal.py",
    ),
    "lodestar_console.typescript": ("lodestar_console/lodestar_console/typescript.py",),
    "lodestar_console.intake.recorded": ("lodestar_console/lodestar_console/intake/recorded.py",),
    "lodestar_console.link": ("lodestar_console/lodestar_console/link.py",),
    "lodestar_console.agents": ("lodestar_console/lodestar_console/agents.py",),
    "lodestar_sim.dataset": ("lodestar_sim/lodestar_sim/dataset/__main__.py",),
    "lodestar_sim.worlds": ("lodestar_sim/lodestar_sim/worlds/__main__.py",),
}  # fmt: skip


def anchor(heading: str) -> str:
    """Return the anchor by which links refer to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(declared.ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for name, place in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        target = (page.parent / name) if name else page
        assert target.exists(), name
        if place:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert place in map(anchor, headings), f"{name}#{place}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(declared.ROOT)))
def test_a_test_that_a_page_names_exists(page: Path) -> None:
    file = ""
    for path, name in re.findall(r"`([\w/]+/test_\w+\.py)?(?:::(test_\w+))?`", page.read_text()):
        file = path or file
        text = (declared.ROOT / file).read_text() if path or name else ""
        assert not name or f"def {name}(" in text, f"{file}::{name}"


def flat(section: dict[str, object], prefix: str = "") -> Iterator[str]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def fragments() -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield page, node and parameters of every parameter file fragment in the documentation."""
    for page in sorted(HOW_TO.glob("*.md")):
        for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            for key, section in yaml.safe_load(block).items():
                yield page.name, key, section["ros__parameters"]


@pytest.mark.parametrize(("page", "key", "values"), fragments())
def test_a_fragment_sets_what_its_node_has_in_any_namespace(
    page: str, key: str, values: dict[str, object]
) -> None:
    assert key == "/**" or key.startswith("/**/"), f"write {key!r} as '/**/{key}', or a namespace loses it"
    specs = [
        spec for use in ("sim", "go2") for spec in stack(use, RECORDED) if key in ("/**", f"/**/{spec.name}")
    ]
    assert specs, f"no node is named {key!r}"
    known = {name for spec in specs for name in declared.parameters(spec.package, spec.executable)}
    assert [name for name in flat(values) if name not in known] == []


def commands() -> Iterator[tuple[str, str]]:
    """Yield page and words of every `python -m lodestar...` command in the documentation."""
    for page in PAGES:
        for line in re.findall(r"python -m (lodestar_[^`\n]*)", page.read_text()):
            yield str(page.relative_to(declared.ROOT)), line.split("  #")[0].strip()


@cache
def benchmark_options(name: str) -> tuple[set[str], set[str]]:
    """Return all options of a benchmark's parser, and all option strings including aliases."""
    parser = argparse.ArgumentParser(add_help=False)
    all_benchmarks()[name].add_options(parser)
    usage, page = (
        set(re.findall(r"--[a-z-]+", text)) for text in (parser.format_usage(), parser.format_help())
    )
    return usage, page


def defined_options(module: str, words: str) -> set[str]:
    """Return all options defined in the sources of a command."""
    files = [declared.ROOT / "src" / name for name in OPTIONS[module]]
    found = {name for file in files for name in declared.names_in(file) if name.startswith("--")}
    benchmark = next(iter(words.split()[1:2]), "") if module == "lodestar_eval" else ""
    return found | (benchmark_options(benchmark)[1] if benchmark in all_benchmarks() else set())


@pytest.mark.parametrize(("page", "words"), sorted(set(commands())))
def test_a_command_exists_and_has_the_options_that_a_page_gives_it(page: str, words: str) -> None:
    module = words.split()[0]
    assert module in OPTIONS, f"{page}: {module}"
    given = re.findall(r"(?<!\S)--[a-z-]+", words.split("--ros-args")[0])
    assert [name for name in given if name not in defined_options(module, words)] == []


@pytest.mark.parametrize("benchmark", ["episodes", "lifelong", "coverage"])
def test_the_page_on_measuring_names_every_option(benchmark: str) -> None:
    page = (HOW_TO / "measure-the-search.md").read_text()
    assert f"\npython -m lodestar_eval {benchmark} " in page
    options, _ = benchmark_options(benchmark)
    assert len(options) >= 4 and [name for name in options if name not in page] == []


def examples() -> Iterator[tuple[str, str, int, str]]:
    """Yield page, kind of building, seed and directive of every runnable example, except those with pictures."""
    for page in PAGES:
        text, name = page.read_text(), str(page.relative_to(declared.ROOT))
        started = re.search(r"lodestar_bringup (?:sim|go2_stand_in) --world (\w+) --seed (\d+)", text)
        for directive in (
            sorted(set(re.findall(r'send_directive "(find [^"]+)"(?! --image)', text))) if started else ()
        ):
            yield name, started.group(1), int(started.group(2)), directive
        for directive, seed, kind in re.findall(
            r'make demo DIRECTIVE="([^"]+)" SEED=(\d+) WORLD=(\w+)', text
        ):
            yield name, kind, int(seed), directive


@pytest.mark.parametrize(("page", "kind", "seed", "directive"), examples())
def test_what_an_example_searches_for_is_there(page: str, kind: str, seed: int, directive: str) -> None:
    assert prepare(kind, seed, directive).task.target_ids, (
        f"{page}: nothing in {kind} {seed} is {directive!r}"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(declared.ROOT)))
def test_every_module_that_a_page_names_is_there(page: Path) -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", page.read_text())) - OF_OTHERS
    parts = [declared.ROOT / name for name in ("src", "isaac", "tests", "scripts", "docs")]
    files = {f"/{path.relative_to(declared.ROOT)}" for part in parts for path in part.rglob("*.py")}
    assert sorted(name for name in named if not any(file.endswith(f"/{name}") for file in files)) == []


def test_the_pages_stay_short() -> None:
    """The bounds of the pages. A page that reaches its bound is shortened, not split."""
    assert len((declared.ROOT / "ARCHITECTURE.md").read_bytes()) <= 15_000
    assert len((declared.ROOT / "CHANGELOG.md").read_text().splitlines()) <= 120
    assert len(list(DECISIONS.glob("0*.md"))) <= 34
    assert len(list(HOW_TO.glob("*.md"))) <= 20


def test_decisions_are_listed_by_their_number_with_their_title() -> None:
    files = sorted(path.name for path in DECISIONS.glob("0*.md"))
    listed = re.findall(
        r"^\| \[(\d{4})\]\((\S+)\) \| (.+) \|$", (DECISIONS / "README.md").read_text(), re.MULTILINE
    )
    assert [name for _, name, _ in listed] == files
    for number, name, subject in listed:
        assert name.startswith(f"{number}-")
        assert (DECISIONS / name).read_text().splitlines()[0] == f"# {number} {subject}"


def test_every_decision_that_code_or_a_page_names_is_there() -> None:
    """A number without a page is one that was merged into another, or does not bind any more."""
    numbers = {path.name[:4] for path in DECISIONS.glob("0*.md")}
    listed = subprocess.run(
        ["git", "ls-files", "src", "tests", "scripts", "launch", "config", "docker", "isaac", "docs", "*.md"],
        cwd=declared.ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    texts = [path for path in map(declared.ROOT.joinpath, filter(None, listed)) if path.suffix in TEXTS]
    missing = [
        f"{path.relative_to(declared.ROOT)}: {number}"
        for path in texts
        if path.exists()
        for number in re.findall(r"ADR (\d{4})", path.read_text())
        if number not in numbers
    ]
    assert missing == []


@pytest.mark.parametrize("page", sorted(DECISIONS.glob("0*.md")), ids=lambda page: page.stem)
def test_a_decision_fits_on_a_page(page: Path) -> None:
    text = page.read_text()
    assert len(text.split()) <= 400
    assert [
        part for part in ("Decision", "Reason", "Consequence", "Rejected") if f"**{part}.**" not in text
    ] == []


@pytest.mark.parametrize(
    "page",
    [page for page in sorted(MEASUREMENTS.glob("*.md")) if page.stem != "README"],
    ids=lambda page: page.stem,
)
def test_a_page_of_measurements_is_short_listed_and_complete(page: Path) -> None:
    """The newest table under its date, how to run it, and what served for choices."""
    text = page.read_text()
    dates = re.findall(r"^## (\d{4}-\d{2}-\d{2})", text, re.MULTILINE)
    assert dates and dates == sorted(dates, reverse=True)
    assert re.search(r"^## How to run it$", text, re.MULTILINE)
    assert re.search(r"^## What served for choices$", text, re.MULTILINE)
    assert len(text.splitlines()) <= 120
    assert f"]({page.name})" in (MEASUREMENTS / "README.md").read_text()


def test_the_readme_has_the_newest_ratios() -> None:
    """The sentence between the marks tells every ratio of the newest table, and the cost itself."""
    readme = (declared.ROOT / "README.md").read_text()
    (sentence,) = re.findall(r"<!-- ratio -->(.*?)<!-- end of ratio -->", readme, re.DOTALL)
    told = re.findall(r"\d(?:[\d.,]*\d)?", sentence)
    costs = {name: cells for name, cells in ratio.recorded().items() if name != ratio.CALLS}
    assert costs
    assert [name for name, (_, now, times) in costs.items() if now not in told or times not in told] == []


def test_the_joystick_names_its_axes_and_asks_to_look_at_them_first() -> None:
    """By default teleop_twist_joy uses triggers of an Xbox pad, whose rest position is 1."""
    section = (HOW_TO / "safety.md").read_text().split("## A joystick")[1].split("\n## ")[0]
    command = section[section.index("teleop_node") :].split("```")[0]
    for name in ("axis_linear.x", "axis_angular.yaw", "scale_linear.x", "scale_angular.yaw"):
        assert re.search(rf"-p {re.escape(name)}:=[\d.]+", command), name
    assert section.index("ros2 topic echo /joy") < section.index("teleop_node")
    assert "must read 0 at rest" in section
    assert re.search(r"apt-get install.* ros-jazzy-joy ros-jazzy-teleop-twist-joy", section)


def test_nothing_hangs_on_the_doctor_finding_not_even_a_warning() -> None:
    """The doctor exits with 1 after a warning, so that a command after && would silently not run."""
    joined = [
        (page.name, line)
        for page in PAGES
        for line in page.read_text().splitlines()
        if re.search(r"lodestar_ros\.doctor\b[^|#]*&&", line)
    ]
    assert joined == []


@pytest.mark.parametrize(
    ("start", "logs"), [("ros2 launch", "mine/log"), ("python -m lodestar_bringup", "out/log")]
)
def test_a_problem_is_packed_with_its_recording_and_its_logs(start: str, logs: str, tmp_path: Path) -> None:
    """`latest` is a symbolic link; the archive must contain its target."""
    page = (HOW_TO / "record.md").read_text()
    (command,) = re.findall(rf"^ *(tar .*?) +# started by {start}\b", page, re.MULTILINE)
    run = tmp_path / logs / "2026-11-25-host-1"
    for file in (tmp_path / "FOLDER" / "part.mcap", run / "launch.log", run.parent / "mapping.log"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(file.name)
    (run.parent / "latest").symlink_to(run)
    environment = {"PATH": os.environ["PATH"], "ROS_LOG_DIR": str(tmp_path / "mine/log")}
    subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, check=True)
    with tarfile.open(tmp_path / "problem.tar.gz") as packed:
        names = {Path(one.name).name for one in packed.getmembers() if one.isfile()}
    assert names == {"part.mcap", "launch.log", "mapping.log"}
    assert 'default=Path("out/log")' in Path(bringup.__file__).read_text()
    assert "ROS_LOG_DIR:-$LODESTAR_ROOT/out/log/ros" in (declared.ROOT / "env.sh").read_text()
