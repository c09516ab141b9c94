"""`python -m lodestar_bringup sim --world apartment --seed 3`: run a stack until Ctrl-C."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from lodestar_bringup.stack import NAVIGATORS, SLAM, USES, StackError, StackOptions, stack
from lodestar_bringup.starter import Starter


def main(arguments: list[str] | None = None) -> int:
    """Run the stack; 0 when it was asked to stop, 1 when a process died."""
    given = _parse(arguments)
    options = StackOptions(
        world=given.world,
        seed=given.seed,
        slam=given.slam,
        navigator=given.navigator,
        namespace=given.namespace,
        profiles=tuple(given.params_file),
    )
    asked_to_stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: asked_to_stop.set())
    try:
        specs = stack(given.use, options)
        if given.list:
            for spec in specs:
                print(" ".join(spec.command()))
            return 0
        starter = Starter(specs, given.log_folder)
        with starter:
            print(f"{len(specs)} processes run; logs in {starter.log_folder}; Ctrl-C stops them", flush=True)
            while not asked_to_stop.wait(0.5):
                deaths = starter.deaths()
                for death in deaths:
                    print(death.report(), file=sys.stderr, flush=True)
                if deaths:
                    return 1
    except StackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    defaults = StackOptions()
    parser = argparse.ArgumentParser(prog="lodestar_bringup", description=__doc__)
    parser.add_argument("use", choices=USES)
    parser.add_argument("--world", default=defaults.world, help="apartment, office, warehouse or a path")
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--slam", choices=SLAM, default=defaults.slam)
    parser.add_argument("--navigator", choices=NAVIGATORS, default=defaults.navigator)
    parser.add_argument("--namespace", default=defaults.namespace)
    parser.add_argument("--params-file", type=Path, action="append", default=[], help="wins over the profile")
    parser.add_argument("--log-folder", type=Path, default=Path("out/log"))
    parser.add_argument("--list", action="store_true", help="print the command lines and start nothing")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
