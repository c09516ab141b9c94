"""Publishers of the simulator's data: one class per group of topics."""

from __future__ import annotations

import array
import json

import numpy as np
from geometry_msgs.msg import TransformStamped, Twist, Vector3
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, LaserScan, PointCloud2
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar_ros import qos
from lodestar_ros.conversions import header, pose_to_msg, stamp_to_msg, transform_to_msg
from lodestar_ros.conversions_sensors import camera_to_msg, cloud_to_msg, image_to_msg
from lodestar_ros.pose_graph_input import TOPIC, graph_to_msg
from lodestar_sim.simulator import Simulator

OPTICAL = "camera_optical_frame"


def _stamped(parent: str, child: str, transform: np.ndarray, stamp: float) -> TransformStamped:
    return TransformStamped(
        header=header(stamp, parent), child_frame_id=child, transform=transform_to_msg(transform)
    )


def _odometry(parent: str, child: str, pose: np.ndarray, velocity: np.ndarray, stamp: float) -> Odometry:
    message = Odometry(header=header(stamp, parent), child_frame_id=child)
    message.pose.pose = pose_to_msg(pose)
    vx, vy, wz = (float(v) for v in velocity)
    message.twist.twist = Twist(linear=Vector3(x=vx, y=vy), angular=Vector3(z=wz))
    for index, variance in ((0, 1e-3), (7, 1e-3), (14, 1e-6), (21, 1e-6), (28, 1e-6), (35, 1e-3)):
        message.pose.covariance[index] = variance
        message.twist.covariance[index] = variance
    return message


class StatePublisher:
    """Publish /clock, odom, TF and ground truth at every step, and the sensors' poses once.

    robot_frames: false if a driver publishes odom -> base_link and the poses of the range sensors. clock: false
    if stamps come from a clock that other nodes share. scans: false if another node publishes the scan.
    """

    def __init__(
        self,
        node: Node,
        sim: Simulator,
        publish_map_to_odom: bool,
        robot_frames: bool = True,
        clock: bool = True,
        scans: bool = True,
    ):
        self._map_to_odom, self._robot_frames = publish_map_to_odom, robot_frames
        self._clock = node.create_publisher(Clock, "/clock", qos.SENSOR) if clock else None
        self._odom = node.create_publisher(Odometry, "odom", qos.RELIABLE)
        self._truth = node.create_publisher(Odometry, "sim/ground_truth", qos.EVENT)
        self._tf = node.create_publisher(TFMessage, "/tf", qos.TF)
        self._tf_static = node.create_publisher(TFMessage, "/tf_static", qos.LATCHED)
        self._graph = None
        if publish_map_to_odom and sim.robot.slam is not None:  # SLAM stand-in
            self._graph = node.create_publisher(MarkerArray, TOPIC, qos.COMMAND)
        sensors, base = sim.config.sensors, sim.base_from_ground
        places: tuple[tuple[str, str, np.ndarray], ...] = (
            ("base_link", "camera_link", base @ sensors.camera.base_from_camera_link),
            ("camera_link", OPTICAL, BODY_FROM_OPTICAL),
        )
        if robot_frames:
            places += (
                (
                    "base_link",
                    "lidar_link",
                    base @ planar_transform(sensors.lidar.x, 0.0, 0.0, sensors.lidar.z),
                ),
            )
        if robot_frames and scans:
            scan = base @ planar_transform(0.0, 0.0, 0.0, sensors.scan.z)
            places += (("base_link", "scan_link", scan),)
        self._tf_static.publish(TFMessage(transforms=[_stamped(*place, 0.0) for place in places]))

    def publish(self, sim: Simulator) -> None:
        """Publish the current state: the clock first, and transforms before any data that need them."""
        stamp = sim.stamp
        if self._clock is not None:
            self._clock.publish(Clock(clock=stamp_to_msg(stamp)))
        transforms = [_stamped("odom", "base_link", sim.odom_from_base, stamp)] if self._robot_frames else []
        if self._map_to_odom:
            transforms.append(_stamped("map", "odom", sim.map_from_odom, stamp))
        if transforms:
            self._tf.publish(TFMessage(transforms=transforms))
        if self._graph is not None and sim.robot.slam is not None:
            graph = sim.robot.slam.graph(stamp)
            if graph is not None:
                self._graph.publish(graph_to_msg(graph))
        self._odom.publish(_odometry("odom", "base_link", sim.odom_from_base, sim.velocity, stamp))
        if self._truth.get_subscription_count():
            pose = sim.robot.world_from_base
            self._truth.publish(_odometry("map", "base_link", pose, sim.velocity, stamp))


class CameraPublisher:
    """Publish colour, depth and labels of one frame with one stamp; only images with subscribers are rendered."""

    def __init__(self, node: Node, width: int, height: int):
        self._size = (width or None, height or None)
        self._color = node.create_publisher(Image, "camera/color/image_raw", qos.SENSOR)
        self._color_info = node.create_publisher(CameraInfo, "camera/color/camera_info", qos.SENSOR)
        self._depth = node.create_publisher(Image, "camera/depth/image_raw", qos.SENSOR)
        self._depth_info = node.create_publisher(CameraInfo, "camera/depth/camera_info", qos.SENSOR)
        self._labels = node.create_publisher(Image, "camera/labels/image_raw", qos.SENSOR)
        self._table = node.create_publisher(String, "camera/labels/table", qos.EVENT)

    def publish(self, sim: Simulator) -> bool:
        """Render and publish the current frame; return False without subscribers."""
        color, depth, labels, table = (
            publisher.get_subscription_count() > 0
            for publisher in (self._color, self._depth, self._labels, self._table)
        )
        info = camera_to_msg(sim.config.sensors.camera.pinhole(*self._size), sim.stamp, OPTICAL)
        self._color_info.publish(info)
        self._depth_info.publish(info)
        if not (color or depth or labels or table):
            return False
        frame = sim.render(color, *self._size)
        if table:
            text = json.dumps(_table_of(frame.stamp, frame.label_table))
            self._table.publish(String(data=text))
        if labels:
            self._labels.publish(image_to_msg(frame.labels, "mono16", frame.stamp, OPTICAL))
        if depth:
            self._depth.publish(image_to_msg(frame.depth_mm, "16UC1", frame.stamp, OPTICAL))
        if frame.rgb is not None:
            self._color.publish(image_to_msg(frame.rgb, "rgb8", frame.stamp, OPTICAL))
        return True


def _table_of(stamp: float, labels: dict[int, dict[str, str]]) -> dict:
    time = stamp_to_msg(stamp)
    entries = {str(value): entry for value, entry in labels.items()}
    return {"stamp": [time.sec, time.nanosec], "labels": entries}


class RangePublisher:
    """Publish the 3-D LiDAR and the planar scan. scans: false if another node publishes the scan."""

    def __init__(self, node: Node, rate: float, scans: bool = True):
        self._period = 1.0 / rate
        self._points = node.create_publisher(PointCloud2, "points", qos.SENSOR)
        # Reliable, as SLAM Toolbox requires.
        self._scan = node.create_publisher(LaserScan, "scan", qos.RELIABLE) if scans else None

    def publish(self, sim: Simulator) -> None:
        """Simulate and publish the data with subscribers."""
        if self._points.get_subscription_count():
            self._points.publish(cloud_to_msg(sim.lidar(), sim.stamp, "lidar_link"))
        if self._scan is not None and self._scan.get_subscription_count():
            frame = sim.scan()
            message = LaserScan(header=header(frame.stamp, "scan_link"))
            message.angle_min = frame.angle_min
            message.angle_increment = frame.angle_increment
            message.angle_max = frame.angle_min + (len(frame.ranges) - 1) * frame.angle_increment
            message.scan_time = self._period
            message.range_min, message.range_max = frame.range_min, frame.range_max
            message.ranges = array.array("f", frame.ranges.tobytes())
            self._scan.publish(message)
