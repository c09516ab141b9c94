"""Access to the console: secret, one-time links, sessions, roles, lease, limits. Independent of ROS and web server."""
