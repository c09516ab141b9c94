"""The base of a Unitree Go2: its driver over the robot's own DDS topics."""
