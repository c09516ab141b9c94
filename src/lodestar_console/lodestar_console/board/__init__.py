"""Contents of the page, as parts with revisions; bounded, free of ROS and of sockets.

Nobody keeps a queue per client: a client remembers the revision that it has, and is given what changed since.
"""
