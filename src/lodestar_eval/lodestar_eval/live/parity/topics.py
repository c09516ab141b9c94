"""Topics that a recording of a live run holds."""

from __future__ import annotations

from dataclasses import dataclass

from nav_msgs.msg import OccupancyGrid
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from lodestar_interfaces import msg
from lodestar_ros import qos


@dataclass(frozen=True)
class RecordedTopic:
    """One recorded topic. needed: whether a comparison is impossible without it."""

    name: str
    type: type
    qos: QoSProfile
    needed: bool = True

    @property
    def type_name(self) -> str:
        """Return the type's name as in a bag: package/msg/Name."""
        return f"{self.type.__module__.split('.')[0]}/msg/{self.type.__name__}"


CLOCK, TF, TF_STATIC = "/clock", "/tf", "/tf_static"
DEPTH, INFO, COLOR = "/camera/depth/image_raw", "/camera/color/camera_info", "/camera/color/image_raw"
LABELS, LABEL_TABLE = "/camera/labels/image_raw", "/camera/labels/table"
POINTS, SCAN = "/points", "/scan"
GRID, ENTITIES = "/grid", "/scene_dictionary/entities"
DIRECTIVE, DECISION = "/goal_selector/directive", "/goal_selector/decision"
QUESTION = "/goal_selector/question"
LAST_SEEN = "/memory/last_seen"

#: Inputs from the sensors, then outputs of the nodes.
TOPICS = (
    RecordedTopic(CLOCK, Clock, qos.SENSOR),
    RecordedTopic(TF, TFMessage, qos.TF),
    RecordedTopic(TF_STATIC, TFMessage, qos.TF_STATIC),
    RecordedTopic(DEPTH, Image, qos.SENSOR),
    RecordedTopic(INFO, CameraInfo, qos.SENSOR),
    RecordedTopic(COLOR, Image, qos.SENSOR),
    RecordedTopic(LABELS, Image, qos.SENSOR),
    RecordedTopic(LABEL_TABLE, String, qos.EVENT),
    RecordedTopic(POINTS, PointCloud2, qos.SENSOR),
    RecordedTopic(SCAN, LaserScan, qos.RELIABLE, needed=False),
    RecordedTopic(GRID, OccupancyGrid, qos.LATCHED),
    RecordedTopic(ENTITIES, msg.SceneDelta, qos.EVENT),
    RecordedTopic(DIRECTIVE, msg.Directive, qos.LATCHED),
    RecordedTopic(DECISION, msg.Decision, qos.EVENT),
    RecordedTopic(QUESTION, msg.Question, qos.EVENT),
    RecordedTopic(LAST_SEEN, msg.SceneDelta, qos.LATCHED, needed=False),
)
