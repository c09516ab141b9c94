"""Stand-in for the parts of `launch` and `launch_ros` that the launch files use, for machines without these packages.

Signatures, scopes and command lines are those of the real packages; a keyword or name that they lack is an error.
`test_launch_files.py` runs its tests with the stand-in, and with the real packages where they are installed.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any


class LaunchContext:
    """The values of launch arguments and the scopes of groups."""

    def __init__(self) -> None:
        self.launch_configurations: dict[str, Any] = {}
        self.is_shutdown = False


class LaunchDescriptionEntity:
    """Anything that a launch description holds; `visit` returns what it holds itself."""

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        return self.execute(context)

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        return None


class LaunchDescription(LaunchDescriptionEntity):
    def __init__(self, initial_entities: Iterable[LaunchDescriptionEntity] | None = None) -> None:
        self.entities = list(initial_entities or ())

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return self.entities


class TextSubstitution:
    def __init__(self, *, text: str) -> None:
        self._text = text

    def perform(self, context: LaunchContext) -> str:
        return self._text


class LaunchConfiguration:
    def __init__(self, variable_name: str, *, default: Any = None) -> None:
        self._name, self._default = variable_name, default

    def perform(self, context: LaunchContext) -> str:
        if self._name in context.launch_configurations:
            return context.launch_configurations[self._name]
        if self._default is None:
            raise RuntimeError(f"launch configuration '{self._name}' does not exist")
        return str(self._default)


def _substitutions(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [TextSubstitution(text=value)]
    return [value]


def _text(context: LaunchContext, value: Any) -> str:
    return "".join(part.perform(context) for part in _substitutions(value))


class DeclareLaunchArgument(LaunchDescriptionEntity):
    def __init__(
        self, name: str, *, default_value: Any = None, description: str | None = None,
        choices: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        if choices is not None and isinstance(default_value, str) and default_value not in choices:
            raise RuntimeError(f"the default of {name}, {default_value!r}, is none of {choices}")
        self.name, self.description, self.choices = name, description, choices
        self.default_value = None if default_value is None else _substitutions(default_value)

    def execute(self, context: LaunchContext) -> None:
        values = context.launch_configurations
        if self.name not in values:
            if self.default_value is None:
                raise RuntimeError(f'Required launch argument "{self.name}" was not provided.')
            values[self.name] = "".join(part.perform(context) for part in self.default_value)
        if self.choices is not None and values[self.name] not in self.choices:
            raise RuntimeError(f'Argument "{self.name}" provided value "{values[self.name]}" is not valid')


class SetLaunchConfiguration(LaunchDescriptionEntity):
    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value

    def execute(self, context: LaunchContext) -> None:
        context.launch_configurations[self.name] = _text(context, self.value)


class OpaqueFunction(LaunchDescriptionEntity):
    def __init__(self, *, function: Callable[[LaunchContext], Any]) -> None:
        self._function = function

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        return self._function(context)


class _Restore(LaunchDescriptionEntity):
    """Set the arguments to a copy, at the end of a group."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def execute(self, context: LaunchContext) -> None:
        context.launch_configurations = self._values


class GroupAction(LaunchDescriptionEntity):
    def __init__(self, actions: Iterable[LaunchDescriptionEntity]) -> None:
        self._actions = list(actions)

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return [*self._actions, _Restore(context.launch_configurations)]


class PythonLaunchDescriptionSource:
    def __init__(self, launch_file_path: str) -> None:
        self.location = launch_file_path

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        return runpy.run_path(self.location)["generate_launch_description"]()


class IncludeLaunchDescription(LaunchDescriptionEntity):
    def __init__(
        self, source: PythonLaunchDescriptionSource, *, launch_arguments: Iterable[tuple[str, Any]] = ()
    ) -> None:
        self._source, self._arguments = source, list(launch_arguments)

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        set_first = [SetLaunchConfiguration(name, value) for name, value in self._arguments]
        return [*set_first, self._source.get_launch_description(context)]


class Shutdown(LaunchDescriptionEntity):
    def __init__(self, *, reason: str = "reason not given") -> None:
        self.reason = reason


class ProcessExited:
    """The event that a process has ended."""


class ExecuteLocal(LaunchDescriptionEntity):
    def __init__(
        self, *, process_description: Any, output: str = "log", emulate_tty: bool = False,
        sigterm_timeout: Any = None, respawn: bool = False, respawn_delay: float | None = None,
        on_exit: Any = None,
    ) -> None:  # fmt: skip
        self.process_description = process_description
        self.__respawn, self.__respawn_delay, self.__on_exit = respawn, respawn_delay, on_exit
        default = LaunchConfiguration("sigterm_timeout", default=5)
        self.__sigterm_timeout = _substitutions(default if sigterm_timeout is None else sigterm_timeout)


class ExecuteProcess(ExecuteLocal):
    def __init__(self, *, cmd: Iterable[str], **process: Any) -> None:
        super().__init__(process_description=list(cmd), **process)


class Node(ExecuteLocal):
    def __init__(
        self, *, executable: str, package: str, name: str | None = None, namespace: str | None = None,
        parameters: list[Any] | None = None, remappings: Iterable[tuple[str, str]] | None = None,
        arguments: Iterable[str] | None = None, additional_env: Mapping[str, str] | None = None, **process: Any,
    ) -> None:  # fmt: skip
        super().__init__(process_description=None, **process)
        self.node_package, self.node_executable, self.additional_env = package, executable, additional_env
        self._name, self._namespace = name, namespace
        self._parameters, self._remappings = parameters or [], list(remappings or ())
        self._arguments = list(arguments or ())

    def command(self, context: LaunchContext) -> list[str]:
        """Return the command line without the executable's folder; parameters stand in it as JSON."""
        values = context.launch_configurations
        line = [f"{self.node_package}/{self.node_executable}", *self._arguments, "--ros-args"]
        line += ["-r", f"__node:={self._name}"] if self._name is not None else []
        own = self._namespace or ""
        pushed = values.get("ros_namespace", "")
        line += ["-r", f"__ns:=/{own if own.startswith('/') else f'{pushed}/{own}'}".replace("//", "/")]
        for given in self._parameters:
            if not isinstance(given, Mapping):
                line += ["--params-file", _text(context, given)]
                continue
            for name, value in given.items():
                text = value.perform(context) if hasattr(value, "perform") else json.dumps(value)
                line += ["-p", f"{name}:={text}"]
        for source, target in (*values.get("ros_remaps", ()), *self._remappings):
            line += ["-r", f"{source}:={target}"]
        return line


class PushRosNamespace(LaunchDescriptionEntity):
    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def execute(self, context: LaunchContext) -> None:
        before = context.launch_configurations.get("ros_namespace", "")
        context.launch_configurations["ros_namespace"] = f"{before}/{self._namespace}".replace("//", "/")


class SetRemap(LaunchDescriptionEntity):
    def __init__(self, src: str, dst: str) -> None:
        self._pair = (src, dst)

    def execute(self, context: LaunchContext) -> None:
        before = context.launch_configurations.get("ros_remaps", [])
        context.launch_configurations["ros_remaps"] = [*before, self._pair]


_NAMES: dict[str, tuple[type, ...]] = {
    "launch": (LaunchContext, LaunchDescription, LaunchDescriptionEntity),
    "launch.actions": (
        DeclareLaunchArgument, ExecuteLocal, ExecuteProcess, GroupAction, IncludeLaunchDescription, OpaqueFunction,
        SetLaunchConfiguration, Shutdown,
    ),
    "launch.events": (),
    "launch.events.process": (ProcessExited,),
    "launch.launch_description_sources": (PythonLaunchDescriptionSource,),
    "launch.substitutions": (LaunchConfiguration,),
    "launch_ros": (),
    "launch_ros.actions": (Node, PushRosNamespace, SetRemap),
}  # fmt: skip


def modules() -> dict[str, ModuleType]:
    """Return the stand-in's modules by the names under which launch files import them."""
    found = {name: ModuleType(name) for name in _NAMES}
    for name, classes in _NAMES.items():
        for one in classes:
            setattr(found[name], one.__name__, one)
        if "." in name:
            parent, _, own = name.rpartition(".")
            setattr(found[parent], own, found[name])
    return found
