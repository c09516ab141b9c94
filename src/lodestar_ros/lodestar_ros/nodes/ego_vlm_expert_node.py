"""ROS shell around `EgocentricExpert`: goals from the current view."""

from __future__ import annotations

from dataclasses import replace

from sensor_msgs.msg import Image

from lodestar.assembly.parts import expert
from lodestar.experts.config import EgoVlmExpertConfig
from lodestar.experts.egocentric import EgocentricExpert
from lodestar.experts.registry import EGO_VLM
from lodestar.floors.per_floor import PerFloor
from lodestar.grid.config import VIEWPOINT_CAMERA_FORWARD
from lodestar.language.reasoner import Reasoner
from lodestar.language.reasoners import make_reasoner
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.timing.stamps import Periodic, Phased
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions_agent import description_to_msg
from lodestar_ros.conversions_sensors import image_to_msg
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.executors import main_of
from lodestar_ros.expert_server import ExpertServer
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.pose_graph_input import PoseGraphInput
from lodestar_ros.rgbd import RecentColors, SegmentedRgbd
from lodestar_ros.scene_client import SceneClient
from lodestar_ros.search_pictures import SearchPictureInputs
from lodestar_ros.workers import LatestWorker


class EgoVlmExpertNode(LodestarNode):
    """Proposes goals from the current view, and publishes a description of it.

    Subscribes: ``depth``, ``camera_info``, ``segmented``, ``grid``, ``entities``, ``mapping/building``, TF, and
    ``image`` if a model or RViz uses it; if the model chooses among pictures of other places, also the topics of
    `SearchPictureInputs`.
    Publishes: ``~/scene_description``, ``~/annotated`` (the view with its marks, if it has subscribers and
    `annotate` is set). Action: ``~/propose``.
    """

    def __init__(self, **kwargs):
        super().__init__(EGO_VLM.node, **kwargs)
        PoseGraphInput(self)
        book = RemotePhraseBook()
        config = self._config = declare_part(self, EgoVlmExpertConfig)
        mind = make_reasoner(config.reasoner)
        self.on_close(mind.close)
        self._pictures: SearchPictureInputs | None = None
        if mind.reasoner.sees and config.expert.offers.pictures:
            self._pictures = SearchPictureInputs(self, VIEWPOINT_CAMERA_FORWARD)
        self._experts = self.timed(PerFloor(lambda: self._made(book, mind.reasoner)))
        self._view_due = self.timed(Phased(config.view_period))
        self._description_due = Periodic(config.description_period)
        book.connect(self)
        self._scene = SceneClient(self)
        if self._pictures is not None:
            self._scene.floors.tell(self._pictures.take_building)
        self._descriptions = self.create_publisher(msg.SceneDescription, "~/scene_description", qos.EVENT)
        self._annotated = self.create_publisher(Image, "~/annotated", qos.SENSOR)
        self.diagnostics.value("reasoner.tokens", mind.tokens)
        self.diagnostics.value("reasoner.discarded", mind.discarded)
        self._server = ExpertServer(self, self._experts, self._scene.floors, refresh=self._refresh)
        self._views: LatestWorker = LatestWorker("views", self._look, self.diagnostics.error)
        self.on_close(self._views.close)
        self.diagnostics.value("views.dropped", lambda: self._views.dropped)
        self.diagnostics.value("views.latency_s", lambda: self._views.latency)
        self._input = SegmentedRgbd(self, declare_config(self, FrameNames, "frames."), self._on_pair)
        wants_color = config.annotate or config.reasoner.asks_model
        self._colors = RecentColors(self, self._input.images) if wants_color else None

    def _made(self, book: RemotePhraseBook, mind: Reasoner) -> EgocentricExpert:
        """Create the expert of a floor."""
        made: EgocentricExpert = expert(EGO_VLM, self._config, book, mind)
        made.use_pictures(self._pictures)
        return made

    def _on_pair(self, frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        if self._view_due.due(frame.stamp):
            self._views.submit((frame, segmented))

    def _look(self, view: tuple[RgbdFrame, SegmentedFrame]) -> None:
        """Give a view to the expert of the robot's floor and publish its description. Runs on the worker."""
        frame, segmented = view
        stamp = frame.stamp
        if self._colors is not None:
            frame = replace(frame, rgb=self._colors.at(stamp))
        with self._server.lock:
            is_here, one = self._server.update(), self._experts.here
            for other in self._experts.all:
                if not is_here or other is not one:
                    other.follow(frame)
            if not is_here:
                return
            one.set_view(frame, segmented)
            description = one.describe() if self._description_due.due(stamp) else None
        if description is not None:
            self._descriptions.publish(description_to_msg(description))
        if self._config.annotate and self._annotated.get_subscription_count():
            self._publish_annotated(stamp)

    def _publish_annotated(self, stamp: float) -> None:
        with self._server.lock:
            picture = self._experts.here.annotated()
        if picture is not None:
            self._annotated.publish(image_to_msg(picture, "rgb8", stamp))

    def _refresh(self) -> None:
        """Give the newest scene to the expert. Runs on the worker before each request."""
        scene = self._scene.snapshot()
        self._experts.here.set_scene(scene)
        if self._pictures is not None:
            self._pictures.scene = scene


main = main_of(EgoVlmExpertNode)
