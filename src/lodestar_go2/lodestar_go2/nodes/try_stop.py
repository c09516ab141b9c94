"""`python -m lodestar_go2.nodes.try_stop`: test before the first walk, with the robot on a stand, that a stop stops it.

The robot turns on the spot for a moment. Exit status: 0 it stopped; 1 it did not, or nothing could be observed;
3 go2_base did not answer.
"""

from __future__ import annotations

import argparse
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
from std_srvs.srv import Trigger

from lodestar_go2.stop_test import Phase
from lodestar_ros import qos
from lodestar_ros.terminal import not_heard, parse, spin_once, terminal_node, wait
from lodestar_ros.twins import identity_from

_PATIENCE = 15.0  # s to wait for the service, and for the result
_GONE = 3


def main(arguments: list[str] | None = None) -> int:
    """Run the stop test and print its result; return the exit status (see the module)."""
    parser = argparse.ArgumentParser(
        prog="python -m lodestar_go2.nodes.try_stop",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options, given = parse(parser, arguments)
    results: list[str] = []

    with terminal_node("try_stop", options.namespace, given) as node:
        base = f"{node.get_namespace().rstrip('/')}/go2_base"

        def hear(message: DiagnosticArray) -> None:
            for status in message.status:
                who = identity_from(status.hardware_id)  # /diagnostics contains the nodes of all robots
                values = {item.key: item.value for item in status.values}
                if who is not None and who.name == base and "stop_test" in values:
                    results.append(values["stop_test"])

        node.create_subscription(DiagnosticArray, "/diagnostics", hear, qos.EVENT)
        client = node.create_client(Trigger, "go2_base/test_stop")
        if not client.wait_for_service(_PATIENCE):
            print(f"go2_base did not answer. {not_heard(node)}", file=sys.stderr)
            return _GONE
        asked = client.call_async(Trigger.Request())
        wait(node, asked, _PATIENCE)
        if not asked.done() or not asked.result().success:
            print(asked.result().message if asked.done() else "go2_base did not answer", file=sys.stderr)
            return 1 if asked.done() else _GONE
        results.clear()
        end = time.monotonic() + _PATIENCE
        ended = (Phase.PASSED.value, Phase.FAILED.value, Phase.VOID.value)
        while not (results and results[-1].startswith(ended)) and time.monotonic() < end:
            spin_once(node, 0.2)
    print(results[-1] if results else "go2_base says nothing any more")
    return 0 if results and results[-1].startswith(Phase.PASSED.value) else 1


if __name__ == "__main__":
    sys.exit(main())
