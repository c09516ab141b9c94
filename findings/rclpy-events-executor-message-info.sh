#!/usr/bin/env bash
# rclpy 9.1.2 (ROS 2 Kilted, wheels of PyPI) with rmw_fastrtps: a subscription's callback may take a second argument,
# the message's information. SingleThreadedExecutor passes it. The experimental EventsExecutor never calls such a
# callback: each message ends `spin_once` with "SystemError: null argument to internal routine", which names neither
# topic nor callback. Callbacks with one argument work under both.
#
# Seen on 2026-11-29 with Python 3.11 on Debian 12. Exit status 0: both still behave so; 1: something has changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "ros-rclpy[fastrtps]==9.1.2" "ros-std-msgs>=5.5,<6" "numpy<3"
libraries=$(find "$folder/venv/lib" -maxdepth 3 -name 'ros_*.libs' -type d | paste -sd:)
export LD_LIBRARY_PATH="$libraries" ROS_DOMAIN_ID=97 ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST
cat > "$folder/hear.py" <<'PYTHON'
import sys
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental.events_executor import EventsExecutor
from std_msgs.msg import String

rclpy.init()
node, heard, errors = rclpy.create_node("hear"), [], set()
if sys.argv[2] == "informed":
    node.create_subscription(String, "said", lambda message, information: heard.append(information), 10)
else:
    node.create_subscription(String, "said", heard.append, 10)
publisher = node.create_publisher(String, "said", 10)
executor = EventsExecutor() if sys.argv[1] == "events" else SingleThreadedExecutor()
executor.add_node(node)
end = time.monotonic() + 20.0
while not heard and not errors and time.monotonic() < end:
    publisher.publish(String(data="hello"))
    try:
        executor.spin_once(timeout_sec=0.1)
    except Exception as error:
        errors.add(f"{type(error).__name__}: {error}")
print("heard" if heard else f"not heard, {', '.join(sorted(errors)) or 'no error'}")
PYTHON
status=0
check() {
    found=$("$folder/venv/bin/python" "$folder/hear.py" "$1" "$2")
    echo "$1, $2: $found"
    [ "$found" = "$3" ] || status=1
}
check waiting plain heard
check waiting informed heard
check events plain heard
check events informed "not heard, SystemError: null argument to internal routine"
[ $status = 0 ] && echo "as described" || echo "it behaves in another way now"
exit $status
