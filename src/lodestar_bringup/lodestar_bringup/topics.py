"""Topic remaps that connect Lodestar's nodes with each other, with cameras and with a Go2."""

from __future__ import annotations

from lodestar.experts.registry import experts

Remaps = tuple[tuple[str, str], ...]

# Relative topic of a subscriber -> topic of the publishing node.
WIRING: Remaps = (
    ("segmented", "perception/segmented"),
    ("vocabulary", "perception/vocabulary"),
    ("wanted_words", "goal_selector/wanted_words"),
    ("keyframes", "keyframes/keyframes"),
    ("signs", "sign_reader/signs"),
    ("instances", "semantic_voxels/instances"),
    ("get_instances", "semantic_voxels/get_instances"),
    ("looks", "semantic_voxels/looks"),
    ("tracks", "semantic_voxels/tracks"),
    ("movers", "mapping/movers"),
    ("pillars", "semantic_voxels/pillars"),
    ("entities", "scene_dictionary/entities"),
    ("get_entities", "scene_dictionary/get_entities"),
    ("regions", "scene_dictionary/regions"),
    ("costmap_filter_info", "scene_dictionary/costmap_filter_info"),
    ("get_snapshots", "memory/get_snapshots"),
    ("get_keyframe", "keyframes/get"),
    ("list_keyframes", "keyframes/list"),
    ("erase_keyframes", "keyframes/erase"),
    ("stored_keyframes", "keyframes/stored"),
    ("wanted_keyframes", "memory/wanted_keyframes"),
    ("save_voxels", "semantic_voxels/save"),
    ("load_voxels", "semantic_voxels/load"),
    ("export_voxels", "semantic_voxels/export"),
    ("save_grid", "mapping/save"),
    ("load_grid", "mapping/load"),
    ("save_keyframes", "keyframes/save"),
    ("load_keyframes", "keyframes/load"),
    ("save_ways", "world_model/save"),
    ("load_ways", "world_model/load"),
    ("embed", "text_embedder/embed"),
    ("directive", "goal_selector/directive"),
    ("decision", "goal_selector/decision"),
    ("directive_report", "goal_selector/report"),
    ("last_seen", "memory/last_seen"),
    ("snapshots", "memory/snapshots"),
    ("heartbeat", "goal_selector/heartbeat"),
    ("traces", "goal_selector/traces"),
    ("outcomes", "goal_selector/outcomes"),
    ("amend", "scene_dictionary/amend"),
    ("closed_ways", "world_model/closed_ways"),
    ("world_events", "world_model/events"),
    ("point_out", "goal_selector/point_out"),
    ("correct", "world_model/correct"),
)


# Remaps that only the console needs.
CONSOLE: Remaps = (
    ("cloud", "semantic_voxels/surface"),
    ("changes", "scene_dictionary/changes"),
    ("looked_at", "memory/looked_at"),
    ("holds", "motion_gate/holds"),
    ("place_hold", "motion_gate/place_hold"),
    ("release_hold", "motion_gate/release_hold"),
    ("keep_out_mask", "scene_dictionary/keep_out_mask"),
    ("name_region", "scene_dictionary/name_region"),
    ("answer", "memory/answer"),
    ("manage_memory", "memory/manage"),
)


def wiring() -> Remaps:
    """Return the remaps (subscribed name, published topic) between nodes, including topics of the experts."""
    return WIRING + tuple(pair for spec in experts() for pair in spec.topics)


SIM_CAMERA = (
    ("image", "camera/color/image_raw"),
    ("depth", "camera/depth/image_raw"),
    ("camera_info", "camera/color/camera_info"),
    ("labels", "camera/labels/image_raw"),
    ("label_table", "camera/labels/table"),
)

# Topics of the RealSense ROS driver; depth must be aligned to colour (align_depth.enable:=true).
REALSENSE_CAMERA = (
    ("image", "camera/camera/color/image_raw"),
    ("depth", "camera/camera/aligned_depth_to_color/image_raw"),
    ("camera_info", "camera/camera/color/camera_info"),
)

# Topics of our script for Isaac Sim (isaac/contract.yaml). Its semantic segmentation has one value per class.
ISAAC_CAMERA = (
    ("image", "camera/color/image_raw"),
    ("depth", "camera/depth/image_raw"),
    ("camera_info", "camera/color/camera_info"),
    ("labels", "camera/semantic_segmentation/image_raw"),
    ("label_table", "camera/semantic_segmentation/labels"),
    ("label_instances", "camera/instance_segmentation/image_raw"),
)

# Topics of the public project Zhefan-Xu/isaac-go2-ros2 with one robot. It has no instance image.
ISAAC_GO2_ROS2: Remaps = (
    ("image", "unitree_go2/front_cam/color_image"),
    ("depth", "unitree_go2/front_cam/depth_image"),
    ("camera_info", "unitree_go2/front_cam/info"),
    ("labels", "unitree_go2/front_cam/semantic_segmentation_image"),
    ("label_table", "unitree_go2/front_cam/semantic_segmentation_label"),
    ("points", "unitree_go2/lidar/point_cloud"),
    ("odom", "unitree_go2/odom"),
    ("cmd_vel_out", "unitree_go2/cmd_vel"),
)

_GO2_TOPICS = ("sportmodestate", "lowstate", "utlidar/cloud", "api/sport/request", "api/sport/response")


def go2_topics(prefix: str) -> Remaps:
    """Return the remaps to the Go2's own topics, which are in no namespace.

    prefix: namespace that a bridge adds, "" = none.
    """
    place = f"/{prefix.strip('/')}".rstrip("/")
    return tuple((name, f"{place}/{name}") for name in _GO2_TOPICS)


# Topics of the simulator behind the Go2 stand-in; only the stand-in uses them.
STAND_IN = (
    ("cmd_vel_out", "stand_in/cmd_vel"),
    ("odom", "stand_in/odom"),
    ("points", "stand_in/points"),
    ("scan", "stand_in/scan"),
)

# The simulated camera under the names of the RealSense driver; its labels under the names that `perception` uses.
PLAYED_REALSENSE = (
    ("camera/color/image_raw", "camera/camera/color/image_raw"),
    ("camera/color/camera_info", "camera/camera/color/camera_info"),
    ("camera/depth/image_raw", "camera/camera/aligned_depth_to_color/image_raw"),
    ("camera/depth/camera_info", "camera/camera/aligned_depth_to_color/camera_info"),
    ("camera/labels/image_raw", "labels"),
    ("camera/labels/table", "label_table"),
)

# The grid that a second `mapping` builds from scans, published as SLAM's map.
PLAYED_SLAM = (("grid", "map"),)

# The community's WebRTC driver (abizovnuralem/go2_ros2_sdk, node go2_driver_node): remaps of every name that has
# another meaning here. It subscribes to `cmd_vel_out`, and publishes `odom` and `joint_states` under our names.
WEBRTC_DRIVER = (
    # points in `odom`, without the sensor's position: mapping cannot use them
    ("point_cloud2", "webrtc/point_cloud2"),
    ("imu", "webrtc/imu"),  # its own message type, not sensor_msgs/Imu
    ("go2_states", "webrtc/go2_states"),
    ("webrtc_req", "webrtc/webrtc_req"),
    ("joy", "webrtc/joy"),  # joystick buttons would let the robot stand up and lie down without any check
    ("camera/image_raw", "webrtc/camera/image_raw"),  # colour images without depth
    ("camera/camera_info", "webrtc/camera/camera_info"),
    ("/utlidar/voxel_map_compressed", "webrtc/voxel_map_compressed"),
)
WEBRTC_SAME_NAMES = ("cmd_vel_out", "odom", "joint_states")  # topics that it shares with go2_base
WEBRTC_RIVALS = (
    "twist_mux",
    "teleop_node",
    "joy_node",
)  # nodes of the driver's own launch files that command the robot

# Transforms of a robot in a namespace: frames have no prefix, so each robot needs its own topic, as in Nav2's
# multi-robot launch. /clock stays shared.
OF_ONE_ROBOT = (("/tf", "tf"), ("/tf_static", "tf_static"))
