"""ROS nodes of the Go2: base driver, guard, LiDAR and scan of a simulator's clouds."""
