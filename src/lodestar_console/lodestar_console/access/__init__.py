"""Access to the console: secret, one-time links, sessions, roles, lease, limits. Free of ROS and of the web server."""
