"""Connection of the console to ROS: fills the board and carries out requests.

Only this package and the node use rclpy.
"""
