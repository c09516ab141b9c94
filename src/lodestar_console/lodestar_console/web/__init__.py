"""The web server: pages, sockets, pictures and the door for agents. Free of ROS."""
