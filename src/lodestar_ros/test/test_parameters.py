"""Tests of parameters from dataclasses, and of error messages for invalid ones."""

from __future__ import annotations

import dataclasses
import pkgutil
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

import lodestar_ros.nodes
from lodestar_ros.parameters import ParameterError, declare_config, reject_unknown

pytestmark = pytest.mark.ros


class Mode(Enum):
    SLOW = 1
    FAST = 2


@dataclass(frozen=True)
class Inner:
    voxel: float = 0.05
    ranges: tuple[float, ...] = (4.5, 2.5)


@dataclass(frozen=True)
class Outer:
    name: str = "x"
    count: int = 3
    on: bool = True
    limit: float | None = None
    mode: Mode = Mode.SLOW
    pair: tuple[float, float] = (0.0, 1.0)
    fusion: Inner = field(default_factory=Inner)
    coarse: Inner = field(default_factory=lambda: Inner(voxel=0.2))

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("count must not be negative")


@pytest.fixture
def make_node():
    context = rclpy.Context()
    context.init()
    nodes = []

    def make(**overrides):
        values = [Parameter(name.replace("__", "."), value=value) for name, value in overrides.items()]
        nodes.append(Node("test", context=context, parameter_overrides=values))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    context.shutdown()


def test_defaults_are_those_of_the_dataclass(make_node):
    assert declare_config(make_node(), Outer) == Outer()


def test_a_part_keeps_the_default_that_the_whole_has_for_it(make_node):
    node = make_node(coarse__ranges=[9.0])
    assert declare_config(node, Outer).coarse == Inner(0.2, (9.0,))
    assert node.get_parameter("coarse.voxel").value == 0.2


def test_given_values_win_and_an_integer_may_stand_for_a_number(make_node):
    node = make_node(
        name="y",
        count=5,
        on=False,
        limit=2.5,
        mode="FAST",
        pair=[1, 2],
        fusion__voxel=1,
        fusion__ranges=[3.0],
    )
    expected = Outer("y", 5, False, 2.5, Mode.FAST, (1.0, 2.0), Inner(1.0, (3.0,)))
    assert declare_config(node, Outer) == expected
    assert node.get_parameter("fusion.voxel").value == 1
    reject_unknown(node)


@pytest.mark.parametrize(
    "overrides",
    [
        {"count": "three"},
        {"count": 2.5},
        {"on": 1},
        {"name": 4},
        {"mode": "MEDIUM"},
        {"pair": [1.0]},
        {"fusion__voxel": True},
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(make_node, overrides):
    with pytest.raises(ParameterError, match=next(iter(overrides)).replace("__", ".")):
        declare_config(make_node(**overrides), Outer)


def test_what_the_dataclass_refuses_is_a_message(make_node):
    with pytest.raises(ParameterError, match="count must not be negative"):
        declare_config(make_node(count=-1), Outer)


def test_an_unknown_parameter_is_refused_and_the_known_ones_are_named(make_node):
    node = make_node(fusion__voxle=0.1)
    declare_config(node, Outer)
    with pytest.raises(
        ParameterError, match=r"'fusion\.voxle'; did you mean fusion\.voxel for fusion\.voxle\?$"
    ):
        reject_unknown(node)
    other = make_node(quite_another=1)
    declare_config(other, Outer)
    with pytest.raises(ParameterError, match=r"'quite_another'; its parameters are .*fusion\.voxel"):
        reject_unknown(other)


def test_parameters_cannot_be_changed_under_a_running_node(make_node):
    node = make_node()
    declare_config(node, Outer)
    assert not node.set_parameters([Parameter("count", value=9)])[0].successful


def dataclasses_of_nodes():
    """Return all configurations that node modules import or define."""
    for module in pkgutil.iter_modules(lodestar_ros.nodes.__path__):
        for name, value in vars(import_module(f"lodestar_ros.nodes.{module.name}")).items():
            if (
                dataclasses.is_dataclass(value)
                and isinstance(value, type)
                and name.endswith(("Config", "Names"))
            ):
                yield pytest.param(value, id=f"{module.name}-{name}")


@pytest.mark.parametrize("config", dataclasses_of_nodes())
def test_every_configuration_of_a_node_can_be_declared(make_node, config):
    assert declare_config(make_node(), config) == config()
