"""Tests of the launch files, by a stand-in for the launch packages, and by these packages where they are installed.

What a launch file starts is compared with `python -m lodestar_bringup --list`, for every value of every argument and
for invented combinations.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import re
import runpy
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import declared
import launch_stand_in
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import lodestar_bringup
import lodestar_bringup.stack as process_list
from lodestar_bringup.__main__ import main as starter
from lodestar_bringup.places import StackError
from lodestar_bringup.preflight import NAV2_PACKAGES
from lodestar_bringup.stack import USES, StackOptions, defaults_of, names_elsewhere, of_one_robot, stack
from lodestar_bringup.supervision import Supervision

LAUNCH = declared.ROOT / "launch"
SMALL = ("navigation", "rviz", "slam")
ROBOT_ALONE = "go2_stand_in"  # robot side for a separate go2 description
ENTITIES = "lodestar_bringup.launch_entities"
OURS = ("lodestar_ros", "lodestar_sim", "lodestar_go2", "lodestar_console")
SLAM = """
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription

def generate_launch_description():
    clock = {"use_sim_time": LaunchConfiguration("use_sim_time")}
    return LaunchDescription([
        DeclareLaunchArgument("slam_params_file"),
        DeclareLaunchArgument("use_sim_time", default_value="true"),
        Node(package="slam_toolbox", executable="async_slam_toolbox_node", name="slam_toolbox", namespace="",
             parameters=[LaunchConfiguration("slam_params_file"), clock]),
    ])
"""
EXECUTABLES = {  # of other packages
    **dict.fromkeys(NAV2_PACKAGES, ()),
    "nav2_planner": ("planner_server",),
    "nav2_controller": ("controller_server",),
    "nav2_behaviors": ("behavior_server",),
    "nav2_bt_navigator": ("bt_navigator",),
    "nav2_velocity_smoother": ("velocity_smoother",),
    "nav2_lifecycle_manager": ("lifecycle_manager",),
    "slam_toolbox": ("async_slam_toolbox_node",),
    "rviz2": ("rviz2",),
    "robot_state_publisher": ("robot_state_publisher",),
    "go2_robot_sdk": ("go2_driver_node",),
}
NAVIGATION = {
    "planner_server", "controller_server", "behavior_server", "bt_navigator", "velocity_smoother",
    "lifecycle_manager_navigation",
}  # fmt: skip


@dataclass(frozen=True)
class Process:
    """A process by its command line, without the parameters of its checkpoints."""

    executable: str  # package/name
    name: str
    namespace: str
    files: tuple[str, ...]
    parameters: dict[str, Any]
    remaps: tuple[tuple[str, str], ...]
    keeps: bool

    @property
    def package(self) -> str:
        return self.executable.split("/")[0]


def process(words: list[str]) -> Process:
    """Return the process of a command line; files that launch_ros writes for parameters are read and removed."""
    after = words.index("--ros-args") + 1
    options = [word for word in words[after:] if word != "--ros-args"]
    names: dict[str, str] = {}
    remaps: list[tuple[str, str]] = []
    files: list[str] = []
    parameters: dict[str, Any] = {}
    for option, value in zip(options[::2], options[1::2], strict=True):
        name, _, text = value.partition(":=")
        if option == "-r" and name.startswith("__"):
            names[name] = text
        elif option == "-r":
            remaps.append((name, text))
        elif option == "-p":
            parameters[name] = json.loads(text)
        elif Path(value).name.startswith("launch_params_"):
            (section,) = yaml.full_load(Path(value).read_text()).values()  # with tuples
            parameters |= json.loads(json.dumps(section["ros__parameters"]))
            Path(value).unlink()
        else:
            assert Path(value).is_file(), value
            files.append(value)
    kept = {name for name in parameters if name.startswith("checkpoint.")}
    own = {name: value for name, value in parameters.items() if name not in kept}
    return Process(
        "/".join(Path(words[0]).parts[-2:]), names["__node"], names.get("__ns", "").strip("/"), tuple(files), own,
        tuple(remaps), bool(kept),
    )  # fmt: skip


class Launch:
    """Interprets launch files, with the modules of the launch packages."""

    def __init__(self, prefix: Path, entities: ModuleType) -> None:
        self.prefix, self.entities = prefix, entities
        self.launch = importlib.import_module("launch")
        self.actions = importlib.import_module("launch.actions")
        self.node = importlib.import_module("launch_ros.actions").Node
        self.awaited: list[Callable[[], object]] = []  # functions for the end of the launch process

    def describe(self, name: str) -> Any:
        return runpy.run_path(str(LAUNCH / f"{name}.launch.py"))["generate_launch_description"]()

    def arguments(self, name: str) -> dict[str, Any]:
        """Return the declared arguments of a launch file by name."""
        entities = self.describe(name).entities
        return {one.name: one for one in entities if isinstance(one, self.actions.DeclareLaunchArgument)}

    def visit(self, entity: Any, context: Any) -> Iterator[Any]:
        """Yield the actions that start a process, in their order; no process is started."""
        if isinstance(entity, self.node):
            yield entity
            return
        for inner in entity.visit(context) or ():
            yield from self.visit(inner, context)

    def nodes(self, name: str, arguments: Mapping[str, str]) -> list[Any]:
        context = self.launch.LaunchContext()
        context.launch_configurations.update(arguments)
        return list(self.visit(self.describe(name), context))

    def start(self, name: str, arguments: Mapping[str, str]) -> list[Process]:
        """Return what a launch file starts. Raises StackError or RuntimeError if it refuses its arguments."""
        context = self.launch.LaunchContext()
        context.launch_configurations.update(arguments)
        try:
            found = []
            for node in self.visit(self.describe(name), context):
                found.append(process(self.command(node, context)))
                assert (self.prefix / "lib" / found[-1].executable).is_file(), found[-1].executable
            return found
        finally:
            while self.awaited:
                self.awaited.pop()()

    def command(self, node: Any, context: Any) -> list[str]:
        """Return the command line of a node."""
        if hasattr(node, "command"):
            return node.command(context)
        node._perform_substitutions(context)
        names = {"name": f"__node:={node._Node__node_name}", "ns": f"__ns:={node.expanded_node_namespace}"}
        context.extend_locals({"ros_specific_arguments": names})
        return ["".join(part.perform(context) for part in word) for word in node.cmd]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a prefix with the executables that our packages declare, and those of the packages of others."""
    prefix = tmp_path_factory.mktemp("prefix")
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    for package, names in {
        **{name: tuple(declared.executables(name)) for name in OURS},
        **EXECUTABLES,
    }.items():
        (index / package).touch()
        (prefix / "share" / package).mkdir()
        (prefix / "lib" / package).mkdir(parents=True)
        for name in names:
            (prefix / "lib" / package / name).write_text("#!/bin/sh\n")
            (prefix / "lib" / package / name).chmod(0o755)
    (prefix / "share" / "lodestar_go2" / "urdf").symlink_to(declared.ROOT / "src" / "lodestar_go2" / "urdf")
    (prefix / "share" / "slam_toolbox" / "launch").mkdir()
    (prefix / "share" / "slam_toolbox" / "launch" / "online_async_launch.py").write_text(SLAM)
    return prefix


@pytest.fixture(scope="module", params=["stand-in", "launch"])
def launch(request: pytest.FixtureRequest, prefix: Path) -> Iterator[Launch]:
    """Yield the launch packages' stand-in, and the packages themselves, which come with a ROS installation."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "stand-in":
            for name, module in launch_stand_in.modules().items():
                patch.setitem(sys.modules, name, module)
        else:
            pytest.importorskip(
                "launch_ros", reason="launch_ros comes with a ROS installation, not as a wheel"
            )
        patch.setenv("AMENT_PREFIX_PATH", str(prefix))
        patch.delitem(sys.modules, ENTITIES, raising=False)
        checked, named = cache(process_list.check_profiles), cache(process_list.check_names)
        patch.setattr(process_list, "check_profiles", checked)  # each combination of profiles is read once
        patch.setattr(process_list, "check_names", lambda files, names: named(files, frozenset(names)))
        entities = importlib.import_module(ENTITIES)
        found = Launch(prefix, entities)
        patch.setattr(entities, "atexit", SimpleNamespace(register=lambda *done, **how: found.awaited.append(
            lambda: done[0](*done[1:], **how)
        )))  # fmt: skip
        patch.setattr(entities, "refuse_beside_another", lambda specs: None)
        try:
            yield found
        finally:
            del sys.modules[ENTITIES], lodestar_bringup.launch_entities


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, ...]]:
    """Return values of the arguments without choices, some of them bad."""
    folder = tmp_path_factory.mktemp("values")
    mine = folder / "mine.yaml"
    mine.write_text("/**/mapping:\n  ros__parameters:\n    {}\n")
    return {
        "world": ("apartment", "office", "12"),
        "seed": ("1", "7", "-3", "abc", "1.5", ""),
        "namespace": ("", "robot1", "/robot1/", "floor/robot1"),
        "robot_topics": ("", "/a/"),
        "params_file": ("", str(mine), str(folder / "missing.yaml")),
        "bag": ("", str(folder), str(folder / "missing")),
        "rate": ("1.0", "0.5", "3", "0", "nan", "fast"),
    }


def starts(use: str, arguments: Mapping[str, str]) -> list[Process]:
    """Return what the starter starts with the options of the same names. Raises StackError if it refuses them."""
    words = [use, "--list"]
    for name, value in arguments.items():
        option = "operator" if name == "rviz" else name.replace("_", "-")
        if value in ("true", "false"):
            words += [f"--{option}"] if value == "true" else []
        elif value or name in ("seed", "rate"):
            words.append(f"--{option}={value}")
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    out, error = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = starter(words)
    except SystemExit as ended:  # of the parser
        status = ended.code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if status:
        raise StackError(error.getvalue().removeprefix("error: ").strip())
    return [process(shlex.split(line)) for line in out.getvalue().splitlines()]


def outcome(start: Callable[[], list[Process]]) -> list[Process] | StackError:
    try:
        return start()
    except StackError as error:
        return error


def compare(launch: Launch, use: str, arguments: Mapping[str, str]) -> object:
    """Check that launch file and starter start or refuse the same; return what the launch file starts."""
    launched, started = (
        outcome(lambda: launch.start(use, arguments)),
        outcome(lambda: starts(use, arguments)),
    )
    if isinstance(launched, StackError) or isinstance(started, StackError):
        assert isinstance(launched, StackError) and isinstance(started, StackError), (launched, started)
        assert str(launched) == str(started) or "usage: " in str(started)
        return str(launched)
    ours = [one for one in launched if one.package in (*OURS, "go2_robot_sdk")]
    keepers = {one.name for one in ours if one.keeps}
    assert [replace(one, keeps=False) for one in ours] == started
    chosen = {**defaults_of(use), **arguments}
    namespace, options = chosen.get("namespace", ""), StackOptions(bridge=chosen.get("bridge", "lodestar"))
    assert keepers == {spec.name for spec in stack(use) if spec.keeps}
    others = {one.name: one for one in launched if one not in ours}
    maps, moves = "mapping" in keepers, "motion_gate" in {one.name for one in ours}
    expected = {"slam_toolbox"} if maps and chosen["slam"] == "slam_toolbox" else set()
    expected |= NAVIGATION if moves and chosen["navigator"] == "nav2" else set()
    expected |= {"rviz"} if chosen.get("rviz") == "true" else set()
    expected |= {"robot_state_publisher"} if any(one.name == "go2_base" for one in ours) else set()
    assert set(others) == expected and len(launched) == len(ours) + len(others)
    moved = {*of_one_robot(use, namespace), *names_elsewhere(use, options)}
    for one in others.values():
        assert one.namespace == namespace.strip("/")
        assert one.parameters["use_sim_time"] == ours[0].parameters["use_sim_time"]
        assert moved <= set(one.remaps) or one.name == "robot_state_publisher"
    return launched


def test_the_launch_files_are_those_of_the_uses_and_three_small_ones() -> None:
    assert {path.name for path in LAUNCH.glob("*.py")} == {f"{name}.launch.py" for name in (*USES, *SMALL)}


@pytest.mark.parametrize("use", USES)
def test_every_value_of_every_argument_starts_what_the_starter_starts(
    launch: Launch, use: str, values: Mapping[str, tuple[str, ...]]
) -> None:
    compare(launch, use, {})
    for name, argument in launch.arguments(use).items():
        assert argument.description, name
        seen = [compare(launch, use, {name: value}) for value in argument.choices or values[name]]
        assert any(one != seen[0] for one in seen), f"{name} of {use} changes nothing"


@pytest.mark.parametrize("use", USES)
@settings(max_examples=25)
@given(data=st.data())
def test_combined_arguments_start_what_the_starter_starts(
    launch: Launch, use: str, values: Mapping[str, tuple[str, ...]], data: st.DataObject
) -> None:
    drawn = {
        name: st.sampled_from(argument.choices or values[name])
        for name, argument in launch.arguments(use).items()
    }
    compare(launch, use, data.draw(st.fixed_dictionaries({}, optional=drawn)))


@pytest.mark.parametrize("name", (*USES, *SMALL))
def test_a_value_that_is_no_choice_is_refused(launch: Launch, name: str) -> None:
    for argument in launch.arguments(name).values():
        if argument.choices:
            with pytest.raises(RuntimeError, match=argument.name):
                launch.start(name, {argument.name: "maybe"})


@pytest.mark.parametrize("clock", ["true", "false"])
@pytest.mark.parametrize("namespace", ["", "robot1", "/robot1/"])
@pytest.mark.parametrize("name", SMALL)
def test_a_small_launch_file_starts_alone(launch: Launch, name: str, clock: str, namespace: str) -> None:
    started = {one.name: one for one in launch.start(name, {"use_sim_time": clock, "namespace": namespace})}
    assert set(started) == {"navigation": NAVIGATION, "rviz": {"rviz"}, "slam": {"slam_toolbox"}}[name]
    assert set(launch.arguments(name)) == {"use_sim_time", "namespace"}
    for one in started.values():
        assert one.namespace == namespace.strip("/")
        assert one.parameters["use_sim_time"] == (clock == "true")
    if name == "navigation":
        manager = started.pop("lifecycle_manager_navigation")
        assert set(manager.parameters["node_names"]) == set(started), "it brings up each server"
        assert all(one.files for one in started.values())


def commands() -> Iterator[tuple[str, str, str]]:
    """Yield file, launch file and arguments of each `ros2 launch` in the documentation and in what we ship."""
    files = [
        *declared.ROOT.glob("*.md"),
        *declared.ROOT.glob("docs/**/*.md"),
        *declared.ROOT.glob("docker/*.y*ml"),
    ]
    for path in [*files, *declared.ROOT.glob("config/systemd/*")]:
        for file, words in re.findall(
            r"ros2 launch (?:lodestar_bringup |launch/)(\w+)\.launch\.py([^`'#\n]*)", path.read_text()
        ):
            yield str(path.relative_to(declared.ROOT)), file, words.strip()


@pytest.mark.parametrize(("page", "name", "words"), sorted(set(commands())))
def test_a_launch_command_that_a_page_gives_has_these_arguments(
    launch: Launch, page: str, name: str, words: str
) -> None:
    arguments = launch.arguments(name)
    for argument, value in re.findall(r"(\w+):=(\S+)", words):
        assert argument in arguments, f"{page}: {name}.launch.py has no {argument}"
        assert value in (arguments[argument].choices or (value,)), f"{page}: {argument}:={value}"


@pytest.mark.parametrize(("argument", "value"), [("rviz", "true"), ("seed", "abc")])
def test_a_launch_that_lacks_something_starts_nothing(
    launch: Launch, argument: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = {"no_such_package": "rviz:=true"}
    monkeypatch.setattr(launch.entities, "needed_packages", lambda *options: missing)
    with pytest.raises(StackError, match=r"no_such_package|seed:=abc"):
        launch.start("sim", {argument: value})


def test_a_launch_beside_another_stack_starts_nothing(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(specs: list[Any]) -> None:
        raise StackError(f"{len(specs)} nodes run already")

    monkeypatch.setattr(launch.entities, "refuse_beside_another", refuse)
    with pytest.raises(StackError, match=f"{len(stack('sim'))} nodes run already"):
        launch.start("sim", {})


def test_a_launch_leaves_no_file(launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's folder and the adapted files of Nav2 and SLAM Toolbox last as long as the launch process."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    nodes = launch.nodes("sim", {"slam": "slam_toolbox", "navigator": "nav2", "namespace": "robot1"})
    (run,) = (tmp_path / "state").rglob("run-*")
    assert nodes and run.is_dir()
    assert list(tmp_path.glob("lodestar_*_nav2.yaml")) and list(tmp_path.glob("lodestar_*_slam_toolbox.yaml"))
    while launch.awaited:
        launch.awaited.pop()()
    assert not run.exists() and not list(tmp_path.glob("lodestar_*"))


@pytest.mark.parametrize("use", USES)
def test_every_process_has_the_time_to_end_before_it_is_terminated(launch: Launch, use: str) -> None:
    """Launch's default of 5 s is too short under load; Nav2, SLAM Toolbox and RViz get the same longer time."""
    context = launch.launch.LaunchContext()
    for entity in launch.describe(use).entities:
        if isinstance(entity, launch.actions.SetLaunchConfiguration):
            entity.visit(context)
    own = launch.entities.node(stack(use)[0], Supervision(stack(use)))
    other = launch.actions.ExecuteLocal(process_description=own.process_description)
    for one in (own, other):
        patience = one._ExecuteLocal__sigterm_timeout
        seconds = float("".join(part.perform(context) for part in patience))
        assert seconds == launch.entities.STOP_PATIENCE > 5.0


def test_a_death_is_answered_by_the_starters_rule(launch: Launch) -> None:
    specs = {spec.name: spec for spec in stack("sim")}
    supervision = Supervision(list(specs.values()))
    for name, code, ends in (("mapping", -9, False), ("mapping", 2, True), ("motion_gate", -9, True)):
        node = launch.entities.node(specs[name], supervision)
        assert node._ExecuteLocal__respawn == specs[name].restart
        react = node._ExecuteLocal__on_exit
        actions = react(SimpleNamespace(returncode=code), launch.launch.LaunchContext())
        assert [isinstance(action, launch.actions.Shutdown) for action in actions] == [True] * ends
