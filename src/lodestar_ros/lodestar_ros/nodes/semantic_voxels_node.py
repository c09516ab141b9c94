"""ROS shell around `SemanticVoxelMap`: receives posed depth and segments, publishes instances."""

from __future__ import annotations

import threading
import uuid
from functools import partial

from sensor_msgs.msg import PointCloud2

from lodestar.assembly.config import SEMANTIC_VOXELS_LAYERS_PERIOD, SemanticVoxelsConfig
from lodestar.assembly.voxel_chain import VoxelChain
from lodestar.mapping.admission import FrameRejected
from lodestar.mapping.closure_rehearsal import rehearse_voxels
from lodestar.mapping.semantic_voxels import SemanticVoxelMap
from lodestar.mapping.voxels.colors import colors_of
from lodestar.perception.frames import CameraLook, RgbdFrame, SegmentedFrame
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar_interfaces import msg, srv
from lodestar_ros import qos
from lodestar_ros.building_input import BuildingInput
from lodestar_ros.conversions_map import pillars_to_msg
from lodestar_ros.conversions_scene import instances_to_msg, look_to_msg
from lodestar_ros.conversions_sensors import cloud_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.mover_publisher import MoverPublisher
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.pose_graph_input import PoseGraphInput
from lodestar_ros.rgbd import ColorBeside, SegmentedRgbd
from lodestar_ros.voxel_files import VoxelFiles
from lodestar_ros.workers import LatestWorker


class SemanticVoxelsNode(LodestarNode):
    """Fuses segments into instances; depth is integrated at its own rate and never waits for segments.

    Subscribes: ``depth``, ``camera_info``, ``segmented``, ``mapping/building``, TF; ``image`` for colour, with a short
    timeout.
    Publishes: ``~/instances`` (deltas), ``~/looks`` (of the camera), ``~/tracks`` (people), ``~/cloud``, ``~/surface``,
    ``~/pillars``.
    Serves: ``~/get_instances``.
    Actions: ``~/save``, ``~/load``, ``~/export``.
    """

    def __init__(self, **kwargs):
        super().__init__("semantic_voxels", **kwargs)
        PoseGraphInput(self)
        self._config = declare_part(self, SemanticVoxelsConfig)
        rehearse_voxels(self._config.voxels.geometry)
        self._chain = self.timed(VoxelChain(self._config, self.shared, uuid.uuid4().hex[:12]))
        self._instances = self.create_publisher(msg.InstanceArray, "~/instances", qos.EVENT)
        self._looks = self.create_publisher(msg.Look, "~/looks", qos.EVENT)
        self._cloud = self.create_publisher(PointCloud2, "~/cloud", qos.LATCHED)
        self._surface = self.create_publisher(PointCloud2, "~/surface", qos.LATCHED)
        self._pillars = self.create_publisher(msg.PillarMap, "~/pillars", qos.LATCHED)
        self._tracks = MoverPublisher(self, "~/tracks")
        self._floors = BuildingInput(self)
        self._layers_of: tuple[object, ...] = ()  # state of the map at the newest publication of the layers
        # held while a delta is taken and published, so that deltas are published in order of revision
        self._commit = threading.Lock()
        self._files = VoxelFiles(
            self, self._chain, declare_config(self, CheckpointConfig, "checkpoint."), self._commit
        )
        self._geometry: LatestWorker = LatestWorker("geometry", self._chain.take_depth, self._on_error)
        self._semantics: LatestWorker = LatestWorker("semantics", self._fuse, self._on_error)
        self._layers: LatestWorker = LatestWorker("layers", self._publish_layers, self.diagnostics.error)
        for name, worker in (
            ("geometry", self._geometry),
            ("fuse", self._semantics),
            ("layers", self._layers),
        ):
            self.on_close(worker.close)
            self.diagnostics.value(f"{name}.dropped", partial(getattr, worker, "dropped"))
            self.diagnostics.value(f"{name}.latency_s", partial(getattr, worker, "latency"))
        self.diagnostics.value("voxels", lambda: self._map.voxel_count)
        self.diagnostics.value("voxels.refused", lambda: self._map.voxels_refused)
        self.diagnostics.value("geometry.refused", lambda: self._map.geometry.blocks.refused)
        self.diagnostics.value("rejected", lambda: sum(self._map.rejected.values()))
        self.diagnostics.value("repaired", lambda: sum(self._map.repaired.values()))
        self.diagnostics.value("movers", lambda: len(self._chain.movers.tracks()))
        self.diagnostics.value("movers.pictures", lambda: self._chain.movers.pictures)
        self.diagnostics.value("features.restarted", lambda: self._map.features_restarted)
        self.create_service(srv.GetInstances, "~/get_instances", self._on_get_instances)
        frames = declare_config(self, FrameNames, "frames.")
        self._input = SegmentedRgbd(
            self, frames, lambda *pair: self._semantics.submit(pair), on_depth=self._on_depth
        )
        self._color = ColorBeside(self, self._input.images, self._geometry.submit)
        self._files.keep(lambda: (self._map.session_id, self._map.revision, self._geometry.done))
        self.steady_timer(SEMANTIC_VOXELS_LAYERS_PERIOD, lambda: self._layers.submit(None))

    @property
    def _map(self) -> SemanticVoxelMap:
        return self._chain.map

    def _on_depth(self, frame: RgbdFrame) -> None:
        if self._chain.wants_depth(frame.stamp):
            self._color.add(frame)

    def _fuse(self, pair: tuple[RgbdFrame, SegmentedFrame]) -> None:
        try:
            with self._commit:
                delta = self._chain.take_segments(*pair)
                self._files.note_ids()
                self._instances.publish(instances_to_msg(delta))
            look = CameraLook.of(pair[0])
            if look is not None:
                self._looks.publish(look_to_msg(look))
        finally:  # publish the tracks also if nothing could be fused, as when a person fills the image
            self._tracks.publish(self._chain.movers.tracks(), pair[0].stamp)
        short = self._map.shortage
        self.diagnostics.status(short or f"{self._map.instance_count} instances", ok=not short)

    def _publish_layers(self, _item: None) -> None:
        surfaces, building = self._surface.get_subscription_count(), self._floors.newest
        band, between = building.band, building.is_between
        shown = self._map.session_id, self._map.revision, surfaces, band, between
        if shown == self._layers_of:
            return
        self._layers_of = shown
        stamp = self.now
        if surfaces > 0:
            points, colors, ids = self._map.surface()
            self._surface.publish(cloud_to_msg(points, stamp, "map", colors, ids))
        if self._pillars.get_subscription_count() > 0 and not between:
            self._pillars.publish(pillars_to_msg(self._chain.pillars(band), stamp))
        if self._cloud.get_subscription_count() > 0:
            points, ids = self._map.cloud()
            self._cloud.publish(cloud_to_msg(points, stamp, "map", colors_of(ids), ids))

    def _on_get_instances(
        self, request: srv.GetInstances.Request, response: srv.GetInstances.Response
    ) -> srv.GetInstances.Response:
        delta, until = self._map.delta_since(request.since_revision, request.since_id, request.page_size)
        response.instances, response.until_id = instances_to_msg(delta), until.id
        return response

    def _on_error(self, error: Exception) -> None:
        if isinstance(error, FrameRejected):
            self.diagnostics.input("depth").drop(error.reason.name.lower())
            self.diagnostics.status(f"frame rejected: {error}", ok=False)
        else:
            self.diagnostics.error(error)


main = main_of(SemanticVoxelsNode)
