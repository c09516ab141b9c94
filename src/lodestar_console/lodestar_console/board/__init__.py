"""Contents of the console's page, in named parts with revision numbers, of bounded size.

The package depends neither on ROS nor on sockets.

There is no queue per client: a client remembers its revision and receives the changes since then.
"""
