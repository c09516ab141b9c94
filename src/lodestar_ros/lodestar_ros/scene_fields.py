"""Similarity layers, and keep-out zones of directive and operators, updated on changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from nav_msgs.msg import OccupancyGrid

from lodestar.assembly.scene_chain import SceneChain
from lodestar.floors.records import Building
from lodestar.geometry.poses import planar_pose
from lodestar.grid.zone_growth import ZoneGrowth
from lodestar.query.fields import LAYERS
from lodestar.timing.stamps import CarriedStamp, NewestStamp, Periodic
from lodestar.worldmodel.amendments import ClosedWay
from lodestar.worldmodel.closed_ways import ways_here
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.building_input import BuildingInput
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_language import directive_from_msg
from lodestar_ros.conversions_map import pillars_from_msg, similarity_to_msg
from lodestar_ros.conversions_scene import tracks_from_msg
from lodestar_ros.conversions_world import ways_from_msg
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.keep_out import KeepOutPublisher
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config
from lodestar_ros.workers import LatestWorker

PEOPLE = 0.25  # s of stamps between two masks while people are tracked; the period of turns
NOTICE = 5.0  # s for which the diagnostics mention zones that are held back


class SceneFields:
    """Publishes changed similarity layers and keep-out zones at most once per `period` seconds, on a worker.

    A zone that appears around the robot takes effect as the robot leaves it (`ZoneGrowth`). Comfort distances
    around tracked people are added to the zones, at most every PEOPLE seconds.
    on_worker(function): calls it on the thread that updates the scene, and changes the floor. find_rooms():
    called there after a change of floor.
    Subscribes: ``pillars``, ``directive``, ``tracks``, ``movers``, ``closed_ways``, ``mapping/building``, TF.
    Publishes: ``~/similarity/{target,neighbor,constraint}``, ``~/keep_out_mask``, ``~/costmap_filter_info``.
    """

    def __init__(
        self,
        node: LodestarNode,
        chain: SceneChain,
        period: float,
        on_worker: Callable[[Callable[[], None]], None],
        find_rooms: Callable[[], None],
    ) -> None:
        self._node, self._chain, self._find_rooms = node, chain, find_rooms
        self._layers = {
            layer: node.create_publisher(OccupancyGrid, f"~/similarity/{layer}", qos.LATCHED)
            for layer in LAYERS
        }
        self._keep_out = KeepOutPublisher(node)
        self._growth = ZoneGrowth(node.shared.body)
        self._said = ""
        self._frames = declare_config(node, FrameNames, "frames.")
        self._transforms = node.transforms(newest=True)
        node.diagnostics.value("zones.held_back_m2", lambda: self._growth.held)
        node.listen(msg.PillarMap, "pillars", self._on_pillars, qos.LATCHED)
        node.listen(msg.Directive, "directive", self._on_directive, qos.LATCHED)
        self._ways: tuple[ClosedWay, ...] = ()  # closed ways of all floors
        node.listen(msg.ClosedWayArray, "closed_ways", self._on_ways, qos.LATCHED)
        self._building = Building()
        BuildingInput(
            node, lambda building: on_worker(partial(self._change_floor, building)), self._take_building
        )
        self._people_due = Periodic(PEOPLE)
        self._newest = node.timed(NewestStamp())
        # carries the newest stamp of the movers on; decides when a track has expired
        self._clock = CarriedStamp()
        node.listen(msg.MoverTracks, "tracks", self._on_tracks, qos.EVENT)
        node.listen(msg.MoverTracks, "movers", self._on_movers, qos.EVENT)
        self._people_laid = False
        self._worker: LatestWorker = LatestWorker("fields", self._refresh, node.diagnostics.error)
        node.on_close(self._worker.close)
        node.diagnostics.value("fields.latency_s", lambda: self._worker.latency)
        node.steady_timer(period, lambda: self._worker.submit(None))

    def _on_pillars(self, message: msg.PillarMap) -> None:
        self._chain.pillars = pillars_from_msg(message)

    def _on_directive(self, message: msg.Directive) -> None:
        self._chain.directive = directive_from_msg(message)
        self._worker.submit(None)

    def _on_ways(self, message: msg.ClosedWayArray) -> None:
        self._ways = ways_from_msg(message)
        self._follow_ways()

    def _take_building(self, building: Building) -> None:
        self._building = building
        self._follow_ways()

    def _change_floor(self, building: Building) -> None:
        """Change the chain's floor and update the layers. Runs on the scene's worker."""
        self._chain.change_floor(building)
        if self._chain.is_elsewhere:
            self._find_rooms()
        self._worker.submit(None)

    def _follow_ways(self) -> None:
        """Update the zones of the closed ways on the robot's floor."""
        if self._chain.follow_ways(ways_here(self._ways, self._building)):
            self._worker.submit(None)

    def _on_tracks(self, message: msg.MoverTracks) -> None:
        self._chain.movers = tracks_from_msg(message)
        self._heed("camera", message)

    def _on_movers(self, message: msg.MoverTracks) -> None:
        self._chain.others = tracks_from_msg(message)
        self._heed("ranges", message)

    def _heed(self, stream: str, message: msg.MoverTracks) -> None:
        newest = self._newest.take(stream, stamp_from_msg(message.header.stamp))
        self._clock.take(newest)
        if not message.tracks or self._people_due.due(newest):
            self._worker.submit(None)

    def _refresh(self, _item: None) -> None:
        """Publish changed layers and zones. Runs on the worker."""
        stamp = self._node.now
        update = self._chain.refresh(stamp)
        if update is not None and update.missing is not None:
            self._node.diagnostics.status(f"waiting for the text embedder: {update.missing}", ok=False)
        people = bool(self._chain.people(self._clock.now))
        if (update is not None and update.zones is not None) or people or self._people_laid:
            self._lay(changed=True)
        elif self._growth.held:
            self._lay(changed=False)
        self._people_laid = people
        if update is None or update.pillars is None:
            return
        for layer, field in update.layers.items():
            resolution, origin = update.pillars.resolution, update.pillars.origin
            self._layers[layer].publish(similarity_to_msg(field, resolution, origin, stamp))

    def _lay(self, *, changed: bool) -> None:
        """Publish the keep-out zones, without the cells that the robot still needs to leave a zone; log such
        cells. Runs on the worker.

        changed: the zones themselves have changed, not only the robot's pose.
        """
        zones, before = self._chain.zones_and_comfort(self._clock.now), self._growth.held
        if zones is None:  # no plan grid yet
            return
        laid = self._growth.lay(zones, self._chain.grid, self._pose())
        if changed or self._growth.held != before:
            self._keep_out.publish(replace(laid, stamp=self._node.now))
        said = self._growth.sentence
        if bool(said) != bool(self._said):
            self._node.get_logger().info(
                said or "the robot has left the keep-out zone, which is laid in full now"
            )
        if said:
            self._node.diagnostics.notice(said, NOTICE)
        self._said = said

    def _pose(self) -> np.ndarray | None:
        """Return (3,) x, y, yaw of the robot in map; None if unknown."""
        try:
            return planar_pose(self._transforms.buffer.lookup(self._frames.map, self._frames.base))
        except TransformUnavailable:
            return None
