"""Profiles, the YAML files of ROS parameters: checks of shared parameters, and conversion to the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from lodestar.assembly.config import RobotConfig, part_types
from lodestar.assembly.parameter_values import ValueRefused, coerce, nearest
from lodestar.assembly.shared import MARK, SharedConfig, is_shared

ALL_NODES = "/**"  # section of a profile that applies to every node
SHARED = "shared."

#: Former parameters of parts that are now shared under another name: (part, old) -> new.
_MOVED = {
    ("semantic_voxels", "map_id"): "shared.map_id",
    ("keyframes", "map_id"): "shared.map_id",
    ("goal_selector", "loop.camera_height"): "shared.viewpoints.camera_height",
    ("goal_selector", "loop.promising"): "shared.query.promising",
    ("semantic_map_expert", "promising"): "shared.query.promising",
    ("semantic_map_expert", "last_seen.promising"): "shared.query.promising",
    ("ego_vlm_expert", "worth.promising"): "shared.query.promising",
    ("goal_selector", "loop.detour"): "shared.validation.detour",
    ("goal_selector", "loop.look_age"): "shared.looks.age",
    ("goal_selector", "loop.count_age"): "shared.looks.age",
    ("frontier_expert", "look_ranges"): "shared.looks.range",
    (
        "frontier_expert",
        "near_looks",
    ): "shared.looks.eyes, by which a search looks again from where it would see",
    ("memory", "answering.coverage.reach"): "shared.looks.range",
    ("memory", "answering.coverage.fov"): "shared.looks.fov",
    ("memory", "events.look_range"): "shared.looks.near",
    ("memory", "events.look_fov"): "shared.looks.near_fov",
    ("memory", "last_seen.look_range"): "shared.looks.near",
    ("memory", "last_seen.look_fov"): "shared.looks.near_fov",
    ("semantic_map_expert", "reasoner.adapter"): "shared.language_model",
    ("ego_vlm_expert", "reasoner.adapter"): "shared.vision_model",
    ("goal_selector", "directive.parser"): "shared.language_model",
    ("goal_selector", "advice.adviser"): "shared.language_model",
    ("scene_dictionary", "query.parser"): "shared.language_model",
    ("scene_dictionary", "captioner"): "shared.vision_model",
    ("memory", "agent.adapter"): "shared.language_model",
    ("memory", "captions.captioner"): "shared.vision_model",
    ("goal_selector", "loop.confirm_distance"): "shared.success.distance, less LOOP_CONFIRM_MARGIN",
    ("goal_selector", "loop.confirm_bearing"): "shared.success.bearing, less LOOP_CONFIRM_BEARING_MARGIN",
}


class ProfileError(ValueError):
    """A profile sets a parameter twice or in an invalid place; the message names file and line."""


@dataclass(frozen=True)
class Setting:
    """One parameter set by a profile. node: name of its node, "" = every node. name: dotted."""

    node: str
    name: str
    value: Any
    file: Path
    line: int

    @property
    def place(self) -> str:
        """Return file, line and section for a person."""
        section = f"/**/{self.node}" if self.node else ALL_NODES
        return f"{self.file.name}:{self.line} ({section}: {self.name})"


def settings_of(path: Path) -> list[Setting]:
    """Return the settings of a profile in order. Raises OSError, and ProfileError for an invalid profile."""
    try:
        root = yaml.compose(path.read_text(), Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ProfileError(f"{path.name} is no YAML: {error}") from error
    if root is None:
        return []
    found: list[Setting] = []
    for key, section in _entries(root, path):
        node = "" if key == ALL_NODES else key.rsplit("/", 1)[-1]
        for inner, parameters in _entries(section, path):
            if inner == "ros__parameters" and parameters.value:
                found += _flat(parameters, path, node, "")
    return found


def _entries(mapping: yaml.Node, path: Path) -> Iterator[tuple[str, yaml.Node]]:
    if not isinstance(mapping, yaml.MappingNode):
        raise ProfileError(f"{path.name}:{mapping.start_mark.line + 1} is no list of names and values")
    for key, value in mapping.value:
        yield str(key.value), value


def _flat(mapping: yaml.Node, path: Path, node: str, prefix: str) -> Iterator[Setting]:
    for key, value in _entries(mapping, path):
        if isinstance(value, yaml.MappingNode):
            yield from _flat(value, path, node, f"{prefix}{key}.")
        else:
            loader = yaml.SafeLoader("")
            plain = loader.construct_object(value, deep=True)
            yield Setting(node, f"{prefix}{key}", plain, path, value.start_mark.line + 1)


def check_profiles(paths: Sequence[Path]) -> None:
    """Raise ProfileError if a profile sets a parameter twice or by a former name, or a shared one for one
    part.

    A later file overrides an earlier one, so the same parameter in both is no error.
    """
    for path in paths:
        first: dict[tuple[str, str], Setting] = {}
        for setting in settings_of(path):
            before = first.setdefault((setting.node, setting.name), setting)
            if before is not setting:
                raise ProfileError(
                    f"{setting.name} is set twice: {before.place} has {before.value!r} and {setting.place} has "
                    f"{setting.value!r}; keep one"
                )
            _check_place(setting, first)


def check_names(paths: Sequence[Path], nodes: Iterable[str]) -> None:
    """Raise ProfileError for a mistyped name of a node, and for a shared parameter that does not exist.

    nodes: names of all Lodestar nodes. A profile may have sections of third-party nodes, so a name that
    resembles none of these is accepted. Each node checks its own parameters itself.
    """
    known = set(nodes)
    hints = part_types()
    for path in paths:
        for setting in settings_of(path):
            if setting.node and setting.node not in known:
                near = nearest(setting.node, known)
                if near:
                    raise ProfileError(
                        f"{setting.place}: there is no node {setting.node}; did you mean {near}?"
                    )
            if setting.name.startswith(SHARED):
                names = {f"{SHARED}{name}" for name in names_of(hints["shared"])}
                if setting.name not in names:
                    near = nearest(setting.name, names)
                    raise ProfileError(
                        f"{setting.place}: no part has this parameter; "
                        + (f"did you mean {near}?" if near else f"shared are {', '.join(sorted(names))}")
                    )


def names_of(config_type: type, prefix: str = "") -> list[str]:
    """Return the parameter names of a dataclass, including nested ones."""
    found: list[str] = []
    hints = get_type_hints(config_type)
    for item in fields(config_type):  # type: ignore[arg-type]
        if is_dataclass(hints[item.name]):
            below = (
                f"{prefix}{item.metadata['prefix']}" if "prefix" in item.metadata else f"{prefix}{item.name}."
            )
            found += names_of(hints[item.name], below)  # type: ignore[arg-type]
        else:
            found.append(f"{prefix}{item.name}")
    return found


def _check_place(setting: Setting, known: dict[tuple[str, str], Setting]) -> None:
    if setting.name.startswith(SHARED) and setting.node:
        common = known.get(("", setting.name))
        also = f", and {common.place} has {common.value!r} for all" if common else ""
        raise ProfileError(
            f"{setting.place} sets a parameter that all parts share for {setting.node} alone, to {setting.value!r}"
            f"{also}: set it once, in the section {ALL_NODES}"
        )
    home = home_of(setting.node, setting.name)
    if home is not None:
        base = home.split(",")[0]
        common = known.get(("", base))
        also = f"; {common.place} has it too, {common.value!r}" if common else ""
        raise ProfileError(
            f"{setting.place}: {setting.name} is now {home}, which all parts share{also}: set it once, in the "
            f"section {ALL_NODES}"
        )


def home_of(part: str, name: str) -> str | None:
    """Return the shared parameter that replaces this parameter of a part; None if it is not shared."""
    if (part, name) in _MOVED:
        return _MOVED[part, name]
    if part in ("goal_selector", "memory") and name.startswith("pictures."):
        return f"{SHARED}{name}"
    if part == "scene_dictionary" and name.startswith("query."):
        inside = name.removeprefix("query.").split(".")[0]
        query = {item.name for item in fields(get_type_hints(SharedConfig)["query"])}
        if inside in query:
            return f"{SHARED}{name}"
    part_type = part_types().get(part)
    if part_type is None or part == "shared":
        return None
    found = _shared_name(part_type, name.split("."))
    return None if found is None else f"{SHARED}{found}"


def _shared_name(config: Any, names: list[str]) -> str | None:
    hints = get_type_hints(config)
    for item in fields(config):
        hint, prefix = hints[item.name], item.metadata.get("prefix")
        if is_dataclass(hint) and prefix is not None and ".".join(names).startswith(prefix):
            found = _shared_name(hint, names[prefix.count(".") :])
            if found is not None:
                return found
        if item.name != names[0]:
            continue
        if is_shared(item):
            home, rest = str(item.metadata[MARK]), names[1:]
            deeper = _shared_name(hint, rest) if rest and is_dataclass(hint) else None
            return deeper or ".".join([home, *rest])
        if len(names) > 1 and is_dataclass(hint):
            return _shared_name(hint, names[1:])
    return None


def read_profiles(paths: Sequence[Path]) -> RobotConfig:
    """Return the robot's configuration from these profiles; later files override earlier ones.

    Settings of nodes that are no part of the robot are ignored. Raises ProfileError, OSError.
    """
    check_profiles(paths)
    given: dict[str, dict[str, Setting]] = {}
    for path in paths:
        for setting in settings_of(path):
            if setting.name.startswith(SHARED):
                given.setdefault("shared", {})[setting.name.removeprefix(SHARED)] = setting
            else:
                given.setdefault(setting.node, {})[setting.name] = setting
    try:
        whole = {name: _filled(kind(), given.get(name, {}), "") for name, kind in part_types().items()}
        experts = {name: whole.pop(name) for name in RobotConfig().experts}
        return RobotConfig(**whole, experts=experts)
    except ValueError as error:
        raise ProfileError(f"{', '.join(path.name for path in paths)}: {error}") from error


def _filled(config: Any, given: dict[str, Setting], prefix: str) -> Any:
    """Return the configuration with the given parameter values."""
    hints = get_type_hints(type(config))
    changes: dict[str, Any] = {}
    for item in fields(config):
        name = f"{prefix}{item.name}"
        if is_shared(item):
            continue
        if is_dataclass(hints[item.name]):
            below = f"{prefix}{item.metadata['prefix']}" if "prefix" in item.metadata else f"{name}."
            changes[item.name] = _filled(getattr(config, item.name), given, below)
        elif name in given:
            setting = given[name]
            try:
                changes[item.name] = coerce(name, setting.value, hints[item.name])
            except ValueRefused as error:
                raise ProfileError(f"{setting.place}: {error}") from error
    return replace(config, **changes)
