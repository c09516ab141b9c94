"""The web server: pages, sockets, pictures and tools for agents. Independent of ROS."""
