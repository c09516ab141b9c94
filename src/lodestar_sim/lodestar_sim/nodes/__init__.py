"""ROS nodes of the simulator."""
