"""Main function of the nodes: executor, clean shutdown on a signal, and one line instead of a traceback for invalid
parameters.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import rclpy
import rclpy.task
from rclpy.context import Context
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Task

from lodestar.models.category_priors import BadPriors
from lodestar_ros.parameters import ParameterError, reject_unknown

try:
    from rclpy.experimental.events_executor import EventsExecutor
except ImportError:  # not available in Humble and Jazzy
    EventsExecutor = None

#: Consecutive errors after which the executor itself counts as broken, and the process ends.
MAX_ERRORS = 100
#: Timeout of one spin, seconds. It must be finite: without a deadline the events executor of the
#: ROS 2 wheels never returns from its wait.
SPIN_TIMEOUT = 0.2
#: Name of the participant in the Fast DDS profiles of config/.
PROFILE_NAME = "lodestar_participant"


_making = threading.Lock()


def make_executor(tell: Callable[[BaseException], object], context: Context | None = None) -> Executor:
    """Return the cheapest executor, for one thread.

    tell: called with errors of an action's or a future's callbacks. The events executor of rclpy 9.1 crashes
    with a segmentation fault when it reports such an error, so errors are kept from it. Other executors raise
    them.
    """
    if EventsExecutor is None:
        return SingleThreadedExecutor(context=context)

    class ToldTask(Task):  # type: ignore[type-arg]
        def set_exception(self, exception: Exception) -> None:
            tell(exception)
            self.set_result(None)

    # rclpy reports crashes on stderr, which must be a file; the stderr of a notebook is not
    with _making, contextlib.redirect_stderr(sys.__stderr__):
        original, rclpy.task.Task = rclpy.task.Task, ToldTask
        try:
            return EventsExecutor(context=context)  # takes the class of its tasks from the module
        finally:
            rclpy.task.Task = original


def spin(node: Node, stop: threading.Event | None = None) -> None:
    """Run the node's callbacks until its context ends, `stop` is set or the node refuses to continue.

    An error in a callback (timer, message, service, result) is reported in diagnostics and does not end the node.
    """
    executor = make_executor(lambda error: _tell(node, error), node.context)
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


def _tell(node: Node, error: BaseException) -> None:
    if hasattr(node, "diagnostics"):
        node.diagnostics.error(error)
    else:
        node.get_logger().error(f"{error.__class__.__name__}: {error}", throttle_duration_sec=1.0)


def _refusal(node: Node) -> str:
    """Return why the node must end: a second node of its name, or an error of its own thread; "" = it may go on."""
    return getattr(node, "refusal", "")


def keep_to_profile() -> None:
    """Let only the Fast DDS profile select the network interfaces, if it is one of config/ or a copy.

    Sets environment variables: call this before rclpy starts. For any discovery range other than
    SYSTEM_DEFAULT, and with ROS_LOCALHOST_ONLY, rmw_fastrtps adds a transport of its own.
    """
    with contextlib.suppress(OSError):
        profile = Path(os.environ.get("FASTDDS_DEFAULT_PROFILES_FILE", "")).read_text()
        fast = (os.environ.get("RMW_IMPLEMENTATION") or "rmw_fastrtps").startswith("rmw_fastrtps")
        if fast and PROFILE_NAME in profile:
            os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SYSTEM_DEFAULT"
            os.environ.pop("ROS_LOCALHOST_ONLY", None)


def init_ros(
    args: list[str] | None = None, context: Context | None = None, domain_id: int | None = None
) -> None:
    """Start rclpy for one process or context, with the interfaces of its profile; signals are left to the caller."""
    keep_to_profile()
    rclpy.init(
        args=args, context=context, domain_id=domain_id, signal_handler_options=SignalHandlerOptions.NO
    )


def run(make_node: Callable[[], Node], args: list[str] | None = None) -> int:
    """Create a node, run it until it is interrupted, and return the process's exit status.

    A signal only ends the spinning: messages of the node's close (the gate's zero velocity) are still sent.
    An unknown or invalid parameter, or an older node of the same name, ends the process with status 2 and one line
    that names the cause. A crash in native code prints the stacks of all threads on stderr.
    """
    faulthandler.enable()
    init_ros(args)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    node = None
    try:
        node = make_node()
        reject_unknown(node)
        node.get_logger().info("ready")
        spin(node, stop)
        if _refusal(node):
            node.get_logger().fatal(_refusal(node))
            return 1 if getattr(node, "failed", False) else 2
    except (ParameterError, BadPriors) as error:
        rclpy.logging.get_logger("parameters").fatal(str(error))
        return 2
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except BaseException:
        if node is not None:
            node.failed = True  # type: ignore[attr-defined]  # it begins held the next time
        raise
    finally:
        if node is not None:
            close = getattr(node, "close", None)
            if close is not None:
                close()
            node.destroy_node()
        rclpy.try_shutdown()
        # Ctrl-C comes twice, from the terminal and from `ros2 launch`. At exit Python restores the default handler,
        # and the second signal would kill the process then, which is reported as a death (status -2).
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return 0


def main_of(make_node: Callable[[], Node]) -> Callable[[], None]:
    """Return the `main` of a node's executable, which ends the process without Python's finalization.

    The threads of DDS can hold that up for ever, or crash in it, once in some hundred ends.
    """

    def main() -> None:
        status = run(make_node)
        atexit._run_exitfuncs()  # flushes logs, removes temporary folders
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(status)

    return main
