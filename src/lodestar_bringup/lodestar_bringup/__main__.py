"""`python -m lodestar_bringup sim --world apartment --seed 3`: run a stack until Ctrl-C.

Exit status: 0 stopped on request; 1 ended because a process died; 2 cannot be started with these arguments.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from lodestar_bringup.options import BRIDGES, DRIVERS, NAVIGATORS, PERCEPTION, ROBOTS, SLAM, StackOptions
from lodestar_bringup.places import StackError
from lodestar_bringup.preflight import refuse_beside_another
from lodestar_bringup.stack import EXTERNAL, USES, defaults_of, external, page_link, stack
from lodestar_bringup.starter import Starter
from lodestar_bringup.supervision import Supervision

# s between two checks; chosen: short against the delay of a restart, with hardly any processor time
_POLL = 0.05


def main(arguments: list[str] | None = None) -> int:
    """Run the stack; return the exit status described in the module."""
    given = _parse(arguments)
    defaults = defaults_of(given.use)
    asked_to_stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: asked_to_stop.set())
    try:
        options = StackOptions(
            world=given.world,
            seed=given.seed,
            slam=given.slam or defaults["slam"],
            navigator=given.navigator or defaults["navigator"],
            robot=given.robot,
            driver=given.driver,
            bridge=given.bridge,
            perception=given.perception,
            robot_topics=given.robot_topics,
            namespace=given.namespace,
            operator=given.operator,
            console=given.console,
            signs=given.signs,
            record=given.record,
            bag=given.bag,
            rate=given.rate,
            profiles=tuple(given.params_file),
        )
        specs = stack(given.use, options)
        if given.list:
            for spec in specs:
                print(shlex.join(spec.command()))
            return 0
        _refuse_what_nobody_starts(given.use, options, given.external)
        refuse_beside_another(specs)
        starter = Starter(specs, given.log_folder)
        with contextlib.ExitStack() as ending:
            ending.callback(starter.stop)
            if given.console:
                ending.callback(subprocess.Popen(page_link(), start_new_session=True).terminate)
            watch = _Watch(starter, Supervision(specs), asked_to_stop)
            starter.start(watch.look)
            print(
                f"{len(specs)} processes are running; logs in {starter.log_folder}; Ctrl-C stops them",
                flush=True,
            )
            while True:
                asked_to_stop.wait(_POLL)
                watch.look()
    except _Ended as end:
        return end.status
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


class _Ended(Exception):
    """Raised to end the stack. status: 0 on request, 1 because a process died."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Watch:
    """Restarts processes that die, even while other processes of the stack are still being started."""

    def __init__(self, starter: Starter, supervision: Supervision, asked_to_stop: threading.Event) -> None:
        self._starter, self._supervision, self._asked_to_stop = starter, supervision, asked_to_stop
        self._due: dict[str, float] = {}

    def look(self) -> None:
        """Report processes that died and restart those that are due. Raises _Ended."""
        if self._asked_to_stop.is_set():
            raise _Ended(0)
        now = time.monotonic()
        for death in self._starter.deaths():
            reason = self._supervision.end_reason(death.name, death.returncode, now)
            print(death.report(), file=sys.stderr, flush=True)
            if reason:
                print(f"{reason}: stopping all processes", file=sys.stderr, flush=True)
                raise _Ended(1)
            self._due[death.name] = now + self._supervision.delay(death.name)
        for name in [name for name, at in self._due.items() if now >= at]:
            del self._due[name]
            self._starter.start_one(name)
            print(f"{name} restarted", file=sys.stderr, flush=True)


def _refuse_what_nobody_starts(use: str, options: StackOptions, elsewhere: tuple[str, ...]) -> None:
    """Raise StackError if the use needs SLAM or Nav2, which `ros2 launch` starts and this starter does not.

    elsewhere: the ones of these that already run, as the user has declared.
    """
    missing = [name for name in external(use, options) if name not in elsewhere]
    if missing:
        chosen = [f"slam:={options.slam}", f"navigator:={options.navigator}"] if use == "sim" else []
        launch = " ".join(["ros2 launch lodestar_bringup", f"{use}.launch.py", *chosen])
        raise StackError(
            f"{use} needs {' and '.join(missing)}, which this starter does not run. With a ROS 2 installation use: "
            f"{launch}. If they already run, add --external {','.join(missing)}"
        )


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    defaults = StackOptions()
    parser = argparse.ArgumentParser(
        prog="lodestar_bringup", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("use", choices=USES)
    parser.add_argument("--world", default=defaults.world, help="apartment, office, warehouse or a path")
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--slam", choices=SLAM, default=None, help="default: what the use's launch file has")
    parser.add_argument("--navigator", choices=NAVIGATORS, default=None, help="likewise")
    parser.add_argument(
        "--robot",
        choices=ROBOTS,
        default=defaults.robot,
        help="sim only: go2_protocol plays a Go2, isaac_bridge Isaac Sim",
    )
    parser.add_argument(
        "--bridge",
        choices=BRIDGES,
        default=defaults.bridge,
        help="isaac only: whose script runs in Isaac Sim",
    )
    parser.add_argument(
        "--perception",
        choices=PERCEPTION,
        default=defaults.perception,
        help="on colour images, nanodet: from make detector; network: packaged, for the simulator's buildings; "
        "measured: the simulator's labels with measured errors; default: as the use's profile says",
    )
    parser.add_argument("--driver", choices=DRIVERS, default=defaults.driver, help="go2 only")
    parser.add_argument(
        "--robot-topics",
        default=defaults.robot_topics,
        help="namespace of the Go2's own topics; default none",
    )
    parser.add_argument(
        "--external",
        type=_external,
        default=(),
        metavar="slam,nav2",
        help="runs elsewhere and is not started here: SLAM Toolbox, Nav2",
    )
    parser.add_argument("--namespace", default=defaults.namespace)
    parser.add_argument(
        "--operator",
        action="store_true",
        help="take directives on operator/directive and clicks on clicked_point",
    )
    parser.add_argument(
        "--console", action="store_true", help="a page in the browser, and the door for agents"
    )
    parser.add_argument("--signs", action="store_true", help="read signs, with make setup EXTRAS=signs")
    parser.add_argument("--record", action="store_true", help="write inputs and conclusions to a recording")
    parser.add_argument("--bag", default=defaults.bag, help="replay only: the recording that is played")
    parser.add_argument("--rate", type=float, default=defaults.rate, help="replay only: times its pace")
    parser.add_argument("--params-file", type=Path, action="append", default=[], help="wins over the profile")
    parser.add_argument("--log-folder", type=Path, default=Path("out/log"))
    parser.add_argument("--list", action="store_true", help="print the command lines and start nothing")
    return parser.parse_args(arguments)


def _external(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [name for name in names if name not in EXTERNAL]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(EXTERNAL)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
