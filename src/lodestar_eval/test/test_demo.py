"""Tests of the demo without its nodes: rejected options, and the judgement of a run."""

from __future__ import annotations

import errno
import io
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.perception.eyes import eyes_of
from lodestar_bringup.places import StackError
from lodestar_bringup.starter import Death
from lodestar_eval.coverage import known_share, marked_share, reachable_floor
from lodestar_eval.demo import __main__ as demo
from lodestar_eval.demo import session
from lodestar_eval.demo.progress import ProgressLine
from lodestar_eval.demo.record import RunRecord
from lodestar_eval.demo.verdict import judge_run
from lodestar_eval.settings import memory_in
from lodestar_eval.tasks import Prepared, prepare
from lodestar_sim.judge import judge_find
from lodestar_sim.simulator import Simulator

SEED = 3


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return prepare("apartment", SEED, None)


@pytest.fixture(scope="module")
def standing_before_it(prepared) -> np.ndarray:
    """Return a success pose with the target in the camera's view."""
    simulator = Simulator(prepared.world)
    thing = prepared.world.object(prepared.task.target_ids[0])
    low, high = prepared.world.box(thing)
    middle = (low[:2] + high[:2]) / 2.0
    for radius in np.arange(0.6, 2.0, 0.1):
        for angle in np.linspace(-np.pi, np.pi, 24, endpoint=False):
            xy = middle + radius * np.array([np.cos(angle), np.sin(angle)])
            pose = np.array([*xy, angle + np.pi])
            if not judge_find(prepared.world, pose, prepared.task.target_ids).success:
                continue
            if simulator.object_mask(pose, prepared.task.target_ids, 160, 120).sum() > 20:
                return pose
    pytest.fail("no pose of success around the target")


@pytest.fixture(scope="module")
def other_kind(prepared) -> str:
    """Return a category, other than the target's, of which the building holds exactly one object."""
    kinds = Counter(thing.category for thing in prepared.world.objects)
    target = prepared.world.object(prepared.task.target_ids[0]).category
    return next(
        kind
        for kind, count in sorted(kinds.items())
        if count == 1 and kind != target and prepare("apartment", SEED, f"find the {kind}").task.target_ids
    )


def record_at(prepared: Prepared, pose: np.ndarray, claimed: bool = True, **changes) -> RunRecord:
    path = np.array([[0.0, *prepared.start], [1.0, *pose]])
    values = {"directive": prepared.task.directive, "world": "apartment", "seed": SEED}
    return RunRecord(
        **{**values, **changes}, start=prepared.start, path=path, path_length=30.0, claimed_success=claimed
    )


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["--world", "nowhere"], "nowhere"),
        (["--directive", "   "], "empty"),
        (["--directive", "qwrt zxcv !!"], "qwrt"),
        (["--time-limit", "-1"], "-1"),
        (["--seed", "red"], "red"),
        (["--frobnicate"], "--frobnicate"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_starts(arguments, complaint, tmp_path, capsys):
    assert demo.main([*arguments, "--out", str(tmp_path / "out")]) == demo.EXIT_USAGE
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_is_a_file_is_refused(tmp_path, capsys):
    (tmp_path / "out").write_text("")
    assert demo.main(["--out", str(tmp_path / "out")]) == demo.EXIT_USAGE
    assert "not a folder" in capsys.readouterr().err


def test_a_directive_of_ones_own_starts_where_the_default_task_does(prepared, other_kind):
    own = prepare("apartment", SEED, f"find the {other_kind}")
    assert tuple(own.start) == tuple(prepared.start)
    assert {prepared.world.object(i).category for i in own.task.target_ids} == {other_kind}


def test_a_detectors_default_task_has_a_target_that_it_can_see_from_the_same_start():
    eyes = eyes_of("nanodet_objectron")  # these hardly ever see a sink
    blind, able = prepare("apartment", 1, None), prepare("apartment", 1, None, eyes)
    assert "sink" in blind.task.directive and "sink" not in able.task.directive
    assert prepare("apartment", 1, able.task.directive, eyes).task == able.task


def test_nothing_is_meant_by_what_is_not_in_the_building(prepared):
    assert prepare("apartment", SEED, "find the submarine").task.target_ids == ()


def test_standing_before_the_target_is_success(prepared, standing_before_it):
    record = record_at(prepared, standing_before_it)
    record.claimed_entities, record.ended = (7,), 1.0
    [arrival] = judge_run(prepared, prepared.world, record)
    assert record.success and record.distance <= 1.0 and np.isfinite(record.shortest)
    assert len(record.targets) == 1
    assert arrival.view.shape[:2] == arrival.mask.shape and arrival.mask.any()
    assert "claimed after 1 s: true" in arrival.caption


def came_back(prepared: Prepared, before: np.ndarray, text: str, **changes) -> RunRecord:
    """Return a run that stands at the target for 3 s, has its claim received as it turns away, and drives home."""
    away = before + np.array([0.0, 0.0, 2.0])
    path = [[0.0, *prepared.start]] + [[10.0 + 0.1 * i, *before] for i in range(30)]
    path += [[13.0, *away], [13.1, *(away + np.array([0.1, 0.0, 0.2]))], [30.0, *prepared.start]]
    values = {"claimed_entities": (7,), "step_begins": ((1, 13.1),), "ended": 30.0, "directive": text}
    return replace(record_at(prepared, before), path=np.array(path), **{**values, **changes})


def test_the_picture_of_who_came_back_is_of_the_claim_and_not_of_the_end(prepared, standing_before_it):
    text = f"{prepared.task.directive} and come back"
    record = came_back(prepared, standing_before_it, text)
    [arrival] = judge_run(prepare("apartment", SEED, text), prepared.world, record)
    assert record.success and arrival.mask.any()
    assert arrival.caption.startswith("step 1: “") and "claimed after 13 s: true" in arrival.caption
    assert np.allclose(record.pose_at_claim(13.1), standing_before_it)


def test_who_comes_back_without_it_claimed_nothing(prepared, standing_before_it):
    text = f"{prepared.task.directive} and come back"
    record = came_back(prepared, standing_before_it, text, claimed_entities=(), claimed_success=False)
    [arrival] = judge_run(prepare("apartment", SEED, text), prepared.world, record)
    assert "nothing was claimed" in arrival.caption


def test_a_wrong_claim_is_captioned_as_wrong(prepared):
    record = replace(record_at(prepared, prepared.start), claimed_entities=(7,), ended=1.0)
    [arrival] = judge_run(prepared, prepared.world, record)
    assert "claimed after 1 s: not true" in arrival.caption


def test_a_report_that_is_interrupted_says_so(prepared, tmp_path, monkeypatch):
    """After Ctrl-C in the second run, no file of the first remains beside the second's world."""

    def interrupted(*_):
        raise session.Interrupted

    monkeypatch.setattr(session, "run_session", interrupted)
    (tmp_path / "summary.json").write_text("{}")
    (tmp_path / "report.md").write_text("# Found: “find the old thing”")
    assert demo.main(["--seed", str(SEED), "--out", str(tmp_path)]) == demo.EXIT_INTERRUPTED
    text = (tmp_path / "report.md").read_text()
    assert text.startswith("# Not finished") and "Interrupted" in text and "old thing" not in text
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log", "report.md", "world.json"]


def test_a_report_of_nodes_that_failed_says_which(prepared, tmp_path, monkeypatch):
    def failed(*_):
        raise StackError("mapping was killed by SIGKILL")

    monkeypatch.setattr(session, "run_session", failed)
    assert demo.main(["--seed", str(SEED), "--out", str(tmp_path)]) == demo.EXIT_STACK
    assert "mapping was killed by SIGKILL" in (tmp_path / "report.md").read_text()


def test_what_no_line_of_the_demo_foresees_goes_to_its_log(prepared, tmp_path, monkeypatch, capfd):
    """The log gets what a library in C writes to stderr too; the screen has one sentence that names the log."""

    def surprised(*_):
        os.write(2, b"[WARN] [rclpy]: a handle was lost\n")
        raise ZeroDivisionError("somewhere deep")

    monkeypatch.setattr(session, "run_session", surprised)
    assert demo.main(["--seed", str(SEED), "--out", str(tmp_path)]) == demo.EXIT_STACK
    said, log = "".join(capfd.readouterr()), (tmp_path / "log" / "demo.log").read_text()
    assert "WARN" not in said and "Traceback" not in said and "demo.log says how" in said.replace("\n  ", " ")
    assert "a handle was lost" in log and "ZeroDivisionError: somewhere deep" in log


def test_a_full_disk_is_told_in_one_sentence(prepared, monkeypatch, capfd):
    """Every write to /dev/full fails like one to a full disk; a report after the run keeps its sentences."""
    monkeypatch.setattr(
        "lodestar_eval.demo.unfinished.begin_report", lambda *_: Path("/dev/full").write_text("x")
    )
    assert demo.main(["--seed", str(SEED), "--out", "nowhere/at/all"]) == demo.EXIT_USAGE
    said = capfd.readouterr().err
    assert said == "lodestar demo: error: nothing can be written to nowhere/at/all: No space left on device\n"
    assert not Path("nowhere").exists()


class Dying:
    """Processes, of which the given ones have died."""

    log_folder = Path("log")

    def __init__(self, *names):
        self.names = names

    def deaths(self):
        names, self.names = self.names, ()
        return [Death(name, -9, self.log_folder / f"{name}.log", "its last words") for name in names]


def test_a_console_that_dies_ends_no_search_and_any_other_node_does(capsys):
    line = ProgressLine()
    session._raise_on_death(Dying("console"), line)
    said = capsys.readouterr().out
    assert "The page is gone, and the search goes on" in said and "its last words" not in said
    with pytest.raises(StackError, match="mapping killed by SIGKILL") as failed:
        session._raise_on_death(Dying("console", "mapping"), line)
    assert "console" not in str(failed.value)


@pytest.mark.parametrize("closed", [errno.EIO, errno.EPIPE])
def test_a_closed_terminal_ends_a_search_as_an_interrupt_does(closed):
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(closed, os.strerror(closed))

    line = ProgressLine(Closed())
    line.note("The robot explores.")
    line.note("The robot still explores.")
    with pytest.raises(KeyboardInterrupt):
        session._raise_on_death(Dying(), line)


def test_standing_there_without_saying_so_is_none(prepared, standing_before_it):
    record = record_at(prepared, standing_before_it, claimed=False)
    judge_run(prepared, prepared.world, record)
    assert not record.success and "did not say" in record.verdict


def test_claiming_at_the_start_is_none(prepared):
    record = record_at(prepared, prepared.start)
    judge_run(prepared, prepared.world, record)
    assert not record.success and record.verdict


def test_a_run_for_what_is_not_there_says_so(prepared):
    absent = prepare("apartment", SEED, "find the submarine")
    record = record_at(absent, prepared.start, claimed=False, error_msg="not found")
    judge_run(absent, absent.world, record)
    assert not record.success and record.targets == ()
    assert "Nothing in this building is meant by “find the submarine”" in record.verdict


def test_every_step_of_a_sequence_must_have_been_visited(prepared, standing_before_it, other_kind):
    thing = prepared.task.directive.removeprefix("find ")
    text = f"find the {other_kind}, then find {thing}"
    steps = prepare("apartment", SEED, text)
    assert steps.task.target_ids == prepared.task.target_ids
    record = record_at(steps, standing_before_it)
    judge_run(steps, steps.world, record)
    assert not record.success and other_kind in record.verdict


def test_coming_home_is_judged_by_distance(prepared):
    home = prepare("apartment", SEED, "come back to where you started")
    near = record_at(home, prepared.start + np.array([0.2, 0.1, 1.0]))
    judge_run(home, home.world, near)
    far = record_at(home, prepared.start + np.array([0.9, 0.1, 1.0]))
    judge_run(home, home.world, far)
    assert near.success and not far.success


def test_to_find_and_come_back_is_both(prepared, standing_before_it):
    text = f"{prepared.task.directive} and come back"
    both = prepare("apartment", SEED, text)
    assert both.task.target_ids == prepared.task.target_ids
    path = np.array([[0.0, *prepared.start], [1.0, *standing_before_it], [2.0, *prepared.start]])
    for ways, success, word in (
        (path, True, "0.00 m from"),
        (path[:2], False, "m from"),
        (path[::2], False, "never"),
    ):
        record = record_at(both, prepared.start, directive=text)
        record.path = ways
        judge_run(both, both.world, record)
        assert record.success == success and word in record.verdict, record.verdict


def test_coverage_is_the_share_of_the_floor_that_the_grid_knows(prepared):
    floor = reachable_floor(prepared.world, prepared.start)
    x0, y0, x1, y1 = prepared.world.bounds
    assert 0.4 * (x1 - x0) * (y1 - y0) < 0.01 * len(floor) < (x1 - x0) * (y1 - y0)
    shape = (int((y1 - y0) / 0.1) + 2, int((x1 - x0) / 0.1) + 2)
    cells = np.full(shape, -1, np.int8)
    grid = OccupancyGrid2D(cells, 0.1, (x0 - 0.1, y0 - 0.1))
    assert known_share(floor, grid) == 0.0
    assert known_share(floor, None) == 0.0
    cells[:] = 0
    assert known_share(floor, grid) == 1.0
    cells[:, shape[1] // 2 :] = -1
    assert 0.2 < known_share(floor, grid) < 0.8


def test_what_stands_beside_the_way_is_marked_within_a_cell_or_not():
    cells = np.zeros((40, 40), np.int8)
    cells[20, 10:20] = 100  # obstacle at y = 2.05 m, x from 1 to 2 m
    grid = OccupancyGrid2D(cells, 0.1, (0.0, 0.0), stamp=0.0)
    way = np.array([[x, 1.5] for x in np.arange(0.0, 4.0, 0.1)])
    wall = np.array([[x, 2.15] for x in np.arange(1.05, 3.0, 0.1)])
    assert marked_share(wall, way, grid) == pytest.approx(11 / 20)
    assert np.isnan(marked_share(wall, way - (0.0, 1.0), grid)), "it stands too far away"
    assert np.isnan(marked_share(wall, way, None)) and np.isnan(marked_share(wall[:0], way, grid))
    assert marked_share(np.array([[1.5, 2.1], [-0.4, 1.5]]), way, grid) == 0.5, (
        "what lies off the grid is not marked"
    )


def test_the_memory_of_a_demo_and_its_pictures_lie_in_its_folder(tmp_path):
    """A shared folder for pictures would let each demo delete those of the others."""
    parameters = session._stack_options(tmp_path, 3, "profile").parameters
    memory = parameters["memory"]["store.folder"]
    assert memory == str(tmp_path / "memory")
    assert parameters["keyframes"]["remembered_folder"] == f"{memory}/images"
    assert memory_in(tmp_path / "memory").items() <= parameters.items()


@pytest.mark.parametrize("module", ["demo/session", "demo/replay", "live/go2_run", "live/replay_run"])
def test_a_program_that_places_the_memory_places_its_pictures_too(module):
    source = (Path(session.__file__).parents[1] / f"{module}.py").read_text()
    assert "store.folder" not in source and "memory_in(" in source


def test_ctrl_c_as_soon_as_the_page_is_told_ends_it():
    def interrupted(text):
        raise KeyboardInterrupt

    line, running = SimpleNamespace(gone=False, note=interrupted), SimpleNamespace(deaths=list)
    session.stay(running, SimpleNamespace(address="http://here"), line)
