"""The nodes of the robot."""
