"""Lodestar: language-directed exploration, semantic mapping and memory. Free of ROS."""

__version__ = "0.1.0"
