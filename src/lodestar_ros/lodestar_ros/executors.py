"""Main function of nodes: executor, clean shutdown on a signal, and a message instead of a traceback for bad
parameters.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
import threading
from collections.abc import Callable

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from lodestar.scene.category_priors import BadPriors
from lodestar_ros.parameters import ParameterError, reject_unknown

try:
    from rclpy.experimental.events_executor import EventsExecutor
except ImportError:  # Humble and Jazzy have none
    EventsExecutor = None

#: Errors in a row after which the executor itself is taken for broken, and the process ends.
MAX_ERRORS = 100
#: Timeout of one spin, seconds. It must be finite: without a deadline the events executor of the
#: ROS 2 wheels never leaves its wait.
SPIN_TIMEOUT = 0.2


def make_executor(threads: int = 1, events: bool = True) -> Executor:
    """Return the cheapest executor for the number of threads.

    events: the events executor is the cheapest, but it crashed once with a segmentation fault after an unexpected
    answer of an action (from a second server of that action). Nodes with action clients do not use it.
    """
    if threads > 1:
        return MultiThreadedExecutor(num_threads=threads)
    return EventsExecutor() if events and EventsExecutor is not None else SingleThreadedExecutor()


def spin(node: Node, threads: int = 1, events: bool = True, stop: threading.Event | None = None) -> None:
    """Run the node's callbacks until its context ends, `stop` is set or the node refuses to continue.

    An error of a callback (timer, message, service, answer) is told and does not end the node.
    """
    executor = make_executor(threads, events)
    executor.add_node(node)
    errors = 0
    try:
        while node.context.ok() and not (stop is not None and stop.is_set()) and not _refusal(node):
            try:
                executor.spin_once(timeout_sec=SPIN_TIMEOUT)
                errors = 0
            except ExternalShutdownException:
                raise
            except Exception as error:
                errors += 1
                if errors > MAX_ERRORS:
                    raise
                _tell(node, error)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.remove_node(node)


def _tell(node: Node, error: Exception) -> None:
    diagnostics = getattr(node, "diagnostics", None)
    if diagnostics is not None:
        diagnostics.error(error)
    else:
        node.get_logger().error(f"{error.__class__.__name__}: {error}", throttle_duration_sec=1.0)


def _refusal(node: Node) -> str:
    """Return why a node ends itself; "" while it continues."""
    return getattr(node, "refusal", "")


def run(
    make_node: Callable[[], Node], args: list[str] | None = None, threads: int = 1, events: bool = True
) -> int:
    """Make a node, run it until it is interrupted, and return the process's exit status.

    A signal only ends the spinning: messages at the node's close (the gate's zero velocity) are still sent.
    A parameter that is unknown or does not fit, as one that names a file of other content, or an older node of the same
    name, ends the process with status 2 and one line that says which. A crash below Python leaves every thread's stack
    on stderr.
    """
    faulthandler.enable()
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    node = None
    try:
        node = make_node()
        reject_unknown(node)
        node.get_logger().info("ready")
        spin(node, threads, events, stop)
        if _refusal(node):
            node.get_logger().fatal(_refusal(node))
            return 2
    except (ParameterError, BadPriors) as error:
        rclpy.logging.get_logger("parameters").fatal(str(error))
        return 2
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        if node is not None:
            close = getattr(node, "close", None)
            if close is not None:
                close()
            node.destroy_node()
        rclpy.try_shutdown()
        # Ctrl-C comes twice, from the terminal and from `ros2 launch`. Python restores the default for a handler of its
        # own while it ends, so that the second one would kill it then and be reported as a death (status -2).
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return 0


def main_of(make_node: Callable[[], Node], threads: int = 1, events: bool = True) -> Callable[[], None]:
    """Return the `main` of a node's executable. threads: more than one for a node with a slow service."""

    def main() -> None:
        sys.exit(run(make_node, threads=threads, events=events))

    return main
