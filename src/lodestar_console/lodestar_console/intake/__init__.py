"""ROS on one side, the board and the port of the web server on the other: the console's only use of rclpy besides its
node.
"""
