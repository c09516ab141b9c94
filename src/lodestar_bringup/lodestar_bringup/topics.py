"""The wiring: topics of our nodes, of cameras and of a Go2."""

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


# Names of the console that no other node needs.
CONSOLE: Remaps = (
    ("cloud", "semantic_voxels/surface"),
    ("changes", "scene_dictionary/changes"),
    ("looked_at", "memory/looked_at"),
    ("held", "motion_gate/held"),
    ("hold_gate", "motion_gate/hold"),
    ("hold_selector", "goal_selector/hold"),
    ("keep_out_mask", "scene_dictionary/keep_out_mask"),
    ("name_region", "scene_dictionary/name_region"),
    ("answer", "memory/answer"),
    ("manage_memory", "memory/manage"),
)


def wiring() -> Remaps:
    """Return the wiring with what the experts publish for others."""
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

# Topics of the public project Zhefan-Xu/isaac-go2-ros2 with one robot. It has no image of instances.
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
    """Return the topics of the robot itself, which knows no namespace. prefix: under which a bridge gives them."""
    place = f"/{prefix.strip('/')}".rstrip("/")
    return tuple((name, f"{place}/{name}") for name in _GO2_TOPICS)


# The simulator behind the stand-in for a Go2, which alone hears and commands it.
STAND_IN = (
    ("cmd_vel_out", "stand_in/cmd_vel"),
    ("odom", "stand_in/odom"),
    ("points", "stand_in/points"),
    ("scan", "stand_in/scan"),
)

# The simulated camera under the names of the RealSense driver; its labels as `perception` hears them.
PLAYED_REALSENSE = (
    ("camera/color/image_raw", "camera/camera/color/image_raw"),
    ("camera/color/camera_info", "camera/camera/color/camera_info"),
    ("camera/depth/image_raw", "camera/camera/aligned_depth_to_color/image_raw"),
    ("camera/depth/camera_info", "camera/camera/aligned_depth_to_color/camera_info"),
    ("camera/labels/image_raw", "labels"),
    ("camera/labels/table", "label_table"),
)

# What `mapping` makes of a scan, in the place of SLAM's map.
PLAYED_SLAM = (("grid", "map"),)

# The community's WebRTC driver (abizovnuralem/go2_ros2_sdk, node go2_driver_node): every name that it uses and that
# means something else here. It listens to `cmd_vel_out` and gives `odom` and `joint_states` under our own names.
WEBRTC_DRIVER = (
    ("point_cloud2", "webrtc/point_cloud2"),  # in `odom`, without the sensor's place: no input of mapping
    ("imu", "webrtc/imu"),  # a type of its own, no sensor_msgs/Imu
    ("go2_states", "webrtc/go2_states"),
    ("webrtc_req", "webrtc/webrtc_req"),
    ("joy", "webrtc/joy"),  # its buttons let the robot stand up and lie down past every check
    ("camera/image_raw", "webrtc/camera/image_raw"),  # colour without depth
    ("camera/camera_info", "webrtc/camera/camera_info"),
    ("/utlidar/voxel_map_compressed", "webrtc/voxel_map_compressed"),
)
WEBRTC_SAME_NAMES = ("cmd_vel_out", "odom", "joint_states")  # what it shares with go2_base
WEBRTC_RIVALS = (
    "twist_mux",
    "teleop_node",
    "joy_node",
)  # started by its own launch files; they command the robot

# Transforms of a robot in a namespace: frames have no prefix, so that two robots need a topic each, as in Nav2's
# multi-robot launch. /clock stays shared.
OF_ONE_ROBOT = (("/tf", "tf"), ("/tf_static", "tf_static"))
