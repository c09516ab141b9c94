"""Tests of clocks that stop, jump and go back, for every class of the core that keeps stamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.assembly.config import MappingConfig
from lodestar.assembly.plan_chain import PlanChain
from lodestar.geometry.camera import PinholeCamera
from lodestar.keyframes.image_picker import ImagePicker
from lodestar.keyframes.store import KeyframeStore
from lodestar.mapping.admission import FrameRejected
from lodestar.mapping.occupancy.turn_filter import TurnFilter
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.perception.frames import RgbdFrame
from lodestar.timing.stamps import SAME_MOMENT, Periodic, Phased

CAMERA = PinholeCamera(8, 6, 8.0, 8.0, 4.0, 3.0)
# seconds between stamps: steady, a pause, a restarted simulator, a stray stamp of the future
STEPS = st.lists(
    st.one_of(st.floats(0.0, 0.5), st.sampled_from([-3600.0, -100.0, -1.0, 30.0, 3600.0])), max_size=60
)


def frame(stamp: float, place: float) -> RgbdFrame:
    pose = np.eye(4)
    pose[0, 3] = place
    rgb = np.full((6, 8, 3), 90, np.uint8)
    return RgbdFrame(stamp, CAMERA, np.ones((6, 8), np.float32), pose, np.eye(4), rgb)


class Pick(ImagePicker):
    """Picker that receives each image's outcome 0.3 s later, with a stamp off by a few milliseconds."""

    def use(self, stamp: float) -> bool:
        self.image(stamp, stamp)
        return self.told(stamp + 0.9 * SAME_MOMENT) is not None


class Store(KeyframeStore):
    """Store whose camera moves a metre between images."""

    place = 0.0

    def use(self, stamp: float) -> bool:
        self.place += 1.0
        return self.offer(frame(stamp, self.place)) is not None


class Voxels(SemanticVoxelMap):
    def use(self, stamp: float) -> bool:
        try:
            self.integrate_depth(frame(stamp, 0.0))
        except FrameRejected:
            return False
        return True


@dataclass
class Case:
    """Case. make(folder): a new stamp keeper. heals: steady seconds until it works again by itself; nan = never."""

    make: object
    use: object
    heals: float


CASES = {
    "periodic": Case(lambda _: Periodic(0.5), lambda one, stamp: one.due(stamp), 1.1),
    "phased": Case(lambda _: Phased(0.5), lambda one, stamp: one.due(stamp), 1.6),
    "turns": Case(lambda _: TurnFilter(), lambda one, stamp: one.due(stamp), 1.1),
    "picker": Case(lambda _: Pick(), lambda one, stamp: one.use(stamp), 1.1),
    "plan": Case(
        lambda _: PlanChain(MappingConfig()), lambda one, stamp: one.wants_turn(stamp, np.eye(4)), 6.0
    ),
    "keyframes": Case(Store, lambda one, stamp: one.use(stamp), float("nan")),
    "voxels": Case(lambda _: Voxels(), lambda one, stamp: one.use(stamp), float("nan")),
}


@pytest.fixture(params=CASES)
def case(request) -> Case:
    return CASES[request.param]


def begin_anew(holder) -> None:
    (holder.restart_clock if hasattr(holder, "restart_clock") else holder.reset)()


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
@pytest.mark.parametrize("name", CASES)
def test_after_a_restart_of_the_clock_it_works_as_a_new_one(name, steps, tmp_path_factory):
    case = CASES[name]
    folder = tmp_path_factory.mktemp("holder")
    used, fresh = case.make(folder / "used"), case.make(folder / "fresh")
    stamp = 5000.0
    for step in steps:
        stamp = max(stamp + step, 1.0)
        case.use(used, stamp)
    begin_anew(used)
    stamps = 2.0 + np.arange(30) * 0.1
    assert [case.use(used, one) for one in stamps] == [case.use(fresh, one) for one in stamps]


@settings(max_examples=100, deadline=None)
@given(steps=STEPS)
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.heals == case.heals])
def test_untold_it_works_again_within_seconds(name, steps):
    case = CASES[name]
    used, stamp = case.make(None), 5000.0
    for step in steps:
        stamp = max(stamp + step, 1.0)
        case.use(used, stamp)
    ahead = stamp + 0.1 + np.arange(int(case.heals * 10)) * 0.1
    assert any(case.use(used, one) for one in ahead)


def test_depth_and_colour_a_few_milliseconds_apart_are_one_moment():
    """Instances have the stamp of depth; a real camera stamps colour up to 20 ms apart."""
    for apart in (0.0, 0.005, -0.015):
        picker, offered = ImagePicker(), 0
        for k in range(600):
            offered += picker.image(50.0 + k / 30, k) is not None
            if k > 10 and k % 6 == 0:
                offered += picker.told(50.0 + (k - 6) / 30 + apart) is not None
        assert offered > 90, apart
