"""The wiring: topics of our nodes, of cameras and of a Go2."""

from __future__ import annotations

Remaps = tuple[tuple[str, str], ...]

# Relative topic of a subscriber -> topic of the publishing node.
WIRING: Remaps = (
    ("segmented", "perception/segmented"),
    ("keyframes", "keyframes/keyframes"),
    ("instances", "semantic_voxels/instances"),
    ("get_instances", "semantic_voxels/get_instances"),
    ("pillars", "semantic_voxels/pillars"),
    ("entities", "scene_dictionary/entities"),
    ("get_entities", "scene_dictionary/get_entities"),
    ("regions", "scene_dictionary/regions"),
    ("costmap_filter_info", "scene_dictionary/costmap_filter_info"),
    ("get_keyframe", "keyframes/get"),
    ("list_keyframes", "keyframes/list"),
    ("erase_keyframes", "keyframes/erase"),
    ("stored_keyframes", "keyframes/stored"),
    ("wanted_keyframes", "memory/wanted_keyframes"),
    ("frontiers", "frontier_expert/frontiers"),
    ("save_voxels", "semantic_voxels/save"),
    ("load_voxels", "semantic_voxels/load"),
    ("export_voxels", "semantic_voxels/export"),
    ("save_grid", "mapping/save"),
    ("load_grid", "mapping/load"),
    ("save_keyframes", "keyframes/save"),
    ("load_keyframes", "keyframes/load"),
    ("embed", "text_embedder/embed"),
    ("scene_description", "ego_vlm_expert/scene_description"),
    ("directive", "goal_selector/directive"),
    ("decision", "goal_selector/decision"),
    ("directive_report", "goal_selector/report"),
    ("last_seen", "memory/last_seen"),
    ("heartbeat", "goal_selector/heartbeat"),
    ("traces", "goal_selector/traces"),
    ("outcomes", "goal_selector/outcomes"),
    ("amend", "scene_dictionary/amend"),
    ("closed_ways", "world_model/closed_ways"),
    ("world_events", "world_model/events"),
)

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

# Topics of Isaac Sim's ROS 2 bridge with its helpers for RGB, depth and semantic segmentation.
ISAAC_CAMERA = (
    ("image", "camera/color/image_raw"),
    ("depth", "camera/depth/image_raw"),
    ("camera_info", "camera/color/camera_info"),
    ("labels", "camera/semantic_segmentation/image_raw"),
    ("label_table", "camera/semantic_segmentation/labels"),
)

# Topics of the robot itself, which know no namespace.
GO2_TOPICS = (
    ("sportmodestate", "/sportmodestate"),
    ("lowstate", "/lowstate"),
    ("utlidar/cloud", "/utlidar/cloud"),
    ("api/sport/request", "/api/sport/request"),
    ("api/sport/response", "/api/sport/response"),
)

# The simulator behind the stand-in for a Go2, which alone hears and commands it.
STAND_IN = (
    ("cmd_vel_out", "stand_in/cmd_vel"),
    ("odom", "stand_in/odom"),
    ("points", "stand_in/points"),
    ("scan", "stand_in/scan"),
)
