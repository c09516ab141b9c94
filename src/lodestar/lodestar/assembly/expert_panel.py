"""Container of all experts of one robot, which passes new inputs on to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lodestar.assembly import parts
from lodestar.experts.protocol import (
    Describer,
    Expert,
    Follower,
    GridReader,
    Listener,
    Looker,
    PictureChooser,
    PlaceMemory,
    PlaceReader,
    SceneReader,
    ViewReader,
)
from lodestar.experts.registry import experts
from lodestar.timing.stamps import Periodic, Phased

if TYPE_CHECKING:
    from lodestar.experts.descriptions import SceneDescription
    from lodestar.experts.picture_source import PictureSource
    from lodestar.grid.occupancy import OccupancyGrid2D
    from lodestar.language.config import ReasonerConfig
    from lodestar.language.reasoner import Reasoner
    from lodestar.models.phrases import PhraseBook
    from lodestar.perception.frames import CameraLook, RgbdFrame, SegmentedFrame
    from lodestar.scene.mirror import SceneMirror


class ExpertPanel:
    """Creates all experts of one robot and passes new inputs on to them.

    An expert receives only the inputs for which it has a setter, and camera views at its own period.
    mind(config): creates the reasoner of an expert that needs one; a reasoner ranks candidates and judges
    views.
    """

    def __init__(
        self, configs: Mapping[str, Any], phrases: PhraseBook, mind: Callable[[ReasonerConfig], Reasoner]
    ) -> None:
        self.experts: dict[str, Expert] = {}
        self._views: list[tuple[ViewReader, Phased]] = []
        self._looks: list[tuple[Looker, Phased]] = []
        self._described: dict[ViewReader, Periodic] = {}
        for spec in experts():
            config = configs[spec.node]
            made = parts.expert(spec, config, phrases, mind(config.reasoner) if spec.reasons else None)
            self.experts[spec.name] = made
            if isinstance(made, Looker):
                self._looks.append((made, Phased(config.view_period)))
            if isinstance(made, ViewReader):
                self._views.append((made, Phased(config.view_period)))
                if isinstance(made, Describer):
                    self._described[made] = Periodic(config.description_period)

    def use_memory(self, memory: PlaceMemory | None) -> None:
        """Set the memory for experts that recall places; None = none."""
        for one in self.experts.values():
            if isinstance(one, PlaceReader):
                one.use_memory(memory)

    def use_pictures(self, source: PictureSource | None) -> None:
        """Set the source of pictures for experts that choose by pictures; None = none."""
        for one in self.experts.values():
            if isinstance(one, PictureChooser):
                one.use_pictures(source)

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Set the grid for every expert that plans."""
        for one in self.experts.values():
            if isinstance(one, GridReader):
                one.set_grid(grid)

    def set_scene(self, scene: SceneMirror) -> None:
        """Set the newest scene for every expert that reads it."""
        for one in self.experts.values():
            if isinstance(one, SceneReader):
                one.set_scene(scene)

    def set_view(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Pass a view to each expert that is due for one, and experts' descriptions of it to listeners."""
        for one, view in self._views:
            if not view.due(frame.stamp):
                continue
            one.set_view(frame, segmented)
            if isinstance(one, Describer) and self._described[one].due(frame.stamp):
                self._tell(one.describe())

    def add_look(self, look: CameraLook) -> None:
        """Pass a look whose frame entered the map to each expert that is due for one."""
        for one, view in self._looks:
            if view.due(look.stamp):
                one.add_view(look.map_from_camera, look.camera, look.stamp)

    def follow(self, frame: RgbdFrame) -> None:
        """Pass an image taken on another floor to the experts that keep places.

        They use only its pose, to follow corrections of the map.
        """
        for one in self.experts.values():
            if isinstance(one, Follower):
                one.follow(frame)

    def _tell(self, description: SceneDescription | None) -> None:
        for one in self.experts.values():
            if description is not None and isinstance(one, Listener):
                one.hear(description)
