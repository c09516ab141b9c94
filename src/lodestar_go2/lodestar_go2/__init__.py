"""The robot itself: a Unitree Go2's base over its own DDS topics."""
