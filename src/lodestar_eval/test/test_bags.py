"""Tests of reading bags written by rosbags, complete and incomplete ones."""

import cv2
import numpy as np
import pytest

from lodestar.geometry.poses import planar_transform, quaternion_from_rotation
from lodestar_eval.recording_sources import open_recording
from lodestar_eval.recordings import BadRecording

pytest.importorskip("rosbags")
pytest.importorskip("rclpy")

OPTICAL = (-0.5, 0.5, -0.5, 0.5)  # body <- optical, quaternion x y z w


class BagWriter:
    """Writes the topics of a depth camera on a robot that drives along x at 1 m/s."""

    def __init__(self, path, storage="MCAP"):
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore

        self.types = get_typestore(Stores.ROS2_HUMBLE)
        self.writer = Writer(path, version=9, storage_plugin=StoragePlugin[storage])
        self.writer.open()
        self.topics = {}

    def type(self, name):
        return self.types.types[name]

    def header(self, stamp, frame):
        time = self.type("builtin_interfaces/msg/Time")(int(stamp), round(stamp % 1 * 1e9))
        return self.type("std_msgs/msg/Header")(time, frame)

    def write(self, topic, kind, message, stamp):
        if topic not in self.topics:
            self.topics[topic] = self.writer.add_connection(topic, kind, typestore=self.types)
        self.writer.write(self.topics[topic], int(stamp * 1e9), self.types.serialize_cdr(message, kind))

    def image(self, topic, array, encoding, stamp, frame="camera"):
        data = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        kind = "sensor_msgs/msg/Image"
        step = array.strides[0]
        self.write(
            topic, kind, self.type(kind)(self.header(stamp, frame), 12, 16, encoding, 0, step, data), stamp
        )

    def compressed(self, topic, data, form, stamp, frame="camera"):
        kind = "sensor_msgs/msg/CompressedImage"
        self.write(
            topic,
            kind,
            self.type(kind)(self.header(stamp, frame), form, np.frombuffer(data, np.uint8)),
            stamp,
        )

    def info(self, topic, stamp, fx=20.0, d=()):
        kind = "sensor_msgs/msg/CameraInfo"
        k = np.array([fx, 0, 7.5, 0, fx, 5.5, 0, 0, 1.0])
        region = self.type("sensor_msgs/msg/RegionOfInterest")(0, 0, 0, 0, False)
        message = self.type(kind)(
            self.header(stamp, "camera"),
            12,
            16,
            "plumb_bob",
            np.array(d, float),
            k,
            np.eye(3).ravel(),
            np.zeros(12),
            0,
            0,
            region,
        )
        self.write(topic, kind, message, stamp)

    def transform(self, parent, child, matrix, stamp, topic="/tf", quaternion=None):
        q = quaternion_from_rotation(matrix[:3, :3]) if quaternion is None else quaternion
        t = self.type("geometry_msgs/msg/Vector3")(*map(float, matrix[:3, 3]))
        rotation = self.type("geometry_msgs/msg/Quaternion")(*map(float, q))
        transform = self.type("geometry_msgs/msg/Transform")(t, rotation)
        stamped = self.type("geometry_msgs/msg/TransformStamped")(
            self.header(stamp, parent), child, transform
        )
        kind = "tf2_msgs/msg/TFMessage"
        self.write(topic, kind, self.type(kind)([stamped]), stamp)

    def drive(self, frames=4, with_map=True, color=True, until=None, compressed=False, d=()):
        self.transform("base_link", "camera", planar_transform(0, 0, 0, 0.5), 0.0, "/tf_static", OPTICAL)
        for i in range(frames):
            stamp = 10.0 + 0.5 * i
            if until is None or i < until:
                self.transform("odom", "base_link", planar_transform(0.5 * i, 0, 0), stamp)
                if with_map:
                    self.transform("map", "odom", planar_transform(0, 2, 0), stamp)
            self.info("/camera/depth/camera_info", stamp, d=d)
            depth = np.full((12, 16), 1500 + i, np.uint16)
            if compressed:
                data = bytes(12) + cv2.imencode(".png", depth)[1].tobytes()
                self.compressed(
                    "/camera/depth/image_raw/compressedDepth", data, "16UC1; compressedDepth", stamp
                )
            else:
                self.image("/camera/depth/image_rect", depth, "16UC1", stamp)
            if color and compressed:
                data = cv2.imencode(".jpg", np.full((12, 16, 3), (0, 0, 200), np.uint8))[1].tobytes()
                self.compressed(
                    "/camera/color/image_raw/compressed", data, "rgb8; jpeg compressed bgr8", stamp
                )
            elif color:
                rgb = np.zeros((12, 16, 3), np.uint8)
                rgb[..., 2] = 200  # red, in BGR order
                self.image("/camera/color/image_raw", rgb, "bgr8", stamp + 0.01)


@pytest.fixture
def bag(tmp_path):
    def make(storage="MCAP", to="bag", **kwargs):
        writer = BagWriter(tmp_path / to, storage)
        writer.drive(**kwargs)
        writer.writer.close()
        return tmp_path / to

    return make


@pytest.mark.parametrize("storage", ["MCAP", "SQLITE3"])
def test_frames_have_depth_camera_pose_and_colour(bag, storage):
    recording = open_recording(bag(storage))
    frames = list(recording.frames())
    assert len(recording) == 4 and [f.stamp for f in frames] == [10.0, 10.5, 11.0, 11.5]
    assert not recording.skipped
    frame = frames[2]
    assert frame.depth[0, 0] == pytest.approx(1.502) and (frame.camera.width, frame.camera.fx) == (16, 20.0)
    np.testing.assert_allclose(frame.map_from_odom, planar_transform(0, 2, 0), atol=1e-9)
    np.testing.assert_allclose(frame.map_from_camera[:3, 3], (1.0, 2.0, 0.5), atol=1e-9)
    np.testing.assert_allclose(frame.map_from_camera[:3, :3] @ (0, 0, 1), (1, 0, 0), atol=1e-9)
    assert frame.rgb[0, 0].tolist() == [200, 0, 0]


def test_a_bag_of_humble_is_read_without_definitions_of_types(bag):
    import sqlite3
    from contextlib import closing

    import yaml

    folder = bag("SQLITE3")
    (file,) = folder.glob("*.db3")
    with closing(sqlite3.connect(file)) as database:
        database.executescript(
            """
            DROP TABLE message_definitions;
            ALTER TABLE topics DROP COLUMN type_description_hash;
            UPDATE schema SET schema_version = 3, ros_distro = 'humble';
            """
        )
    content = yaml.safe_load((folder / "metadata.yaml").read_text())
    content["rosbag2_bagfile_information"]["version"] = 5
    for topic in content["rosbag2_bagfile_information"]["topics_with_message_count"]:
        topic["topic_metadata"]["offered_qos_profiles"] = ""
        topic["topic_metadata"].pop("type_description_hash")
    (folder / "metadata.yaml").write_text(yaml.safe_dump(content))
    assert len(list(open_recording(folder).frames())) == 4
    (folder / "metadata.yaml").unlink()
    assert len(list(open_recording(folder).frames())) == 4


def test_compressed_depth_and_colour_are_read_and_rectified(bag):
    recording = open_recording(bag(compressed=True, d=(-0.8, 0.0, 0.0, 0.0, 0.0)))
    frames = list(recording.frames())
    assert len(recording) == len(frames) == 4 and not recording.skipped
    assert frames[2].depth[6, 8] == pytest.approx(1.502)
    assert abs(int(frames[2].rgb[6, 8, 0]) - 200) < 6
    pincushion = list(open_recording(bag(compressed=True, d=(0.8, 0.0, 0.0, 0.0, 0.0), to="other")).frames())
    assert frames[0].depth.all() and pincushion[0].depth[0, 0] == 0.0, "the corner is not seen"


def test_a_single_file_of_a_bag_is_read(bag):
    (file,) = bag().glob("*.mcap")
    assert len(list(open_recording(file).frames())) == 4


def test_odometry_alone_is_the_map(bag):
    frames = list(open_recording(bag(with_map=False, color=False)).frames())
    np.testing.assert_allclose(frames[1].map_from_odom, np.eye(4))
    np.testing.assert_allclose(frames[1].map_from_camera[:3, 3], (0.5, 0.0, 0.5), atol=1e-9)
    assert frames[1].rgb is None


def test_frames_without_a_pose_are_skipped_and_counted(bag):
    recording = open_recording(bag(until=2))
    assert len(list(recording.frames())) == 2
    assert recording.skipped == {"pose": 2}


def test_a_bag_without_depth_says_what_it_has(tmp_path):
    writer = BagWriter(tmp_path / "bag")
    writer.info("/camera/camera_info", 1.0)
    writer.writer.close()
    with pytest.raises(BadRecording, match=r"depth image, TF; it has /camera/camera_info"):
        open_recording(tmp_path / "bag")


@pytest.mark.parametrize("how", ["torn", "foreign"])
def test_a_torn_or_foreign_file_is_refused(bag, how):
    (file,) = bag().glob("*.mcap")
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2] if how == "torn" else b"a letter")
    with pytest.raises(BadRecording, match="no bag"):
        open_recording(file)
