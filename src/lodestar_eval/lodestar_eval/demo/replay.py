"""`python -m lodestar_eval.demo.replay RECORDING`: play an RGB-D recording through the running nodes.

Exit status: 0 every frame was fused; 1 some were lost; 2 the recording cannot be read; 3 the nodes did not come up, or
one died; 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lodestar_bringup.places import StackError
from lodestar_eval.options import DETECTORS, positive_int, positive_seconds
from lodestar_eval.recording_sources import open_recording
from lodestar_eval.recordings import BadRecording

if TYPE_CHECKING:
    from lodestar.perception.frames import RgbdFrame
    from lodestar_bringup.starter import Starter
    from lodestar_eval.demo.player import Player

EXIT_WHOLE, EXIT_LOST, EXIT_USAGE, EXIT_STACK, EXIT_INTERRUPTED = 0, 1, 2, 3, 130
_READY_TIMEOUT = 180.0  # s of wall time until the first frame is fused, while nodes start and compile
_LAST_TIMEOUT = 10.0  # s of wall time for the last frame to be fused
_LEAD = 1000.0  # s between the stamps of the warm-up frames and those of the recording


def main(arguments: list[str] | None = None) -> int:
    """Play the recording and return the exit status (see the module)."""
    parser = argparse.ArgumentParser("python -m lodestar_eval.demo.replay", description=__doc__)
    parser.add_argument("recording", type=Path, help="as `python -m lodestar_eval rgbd` reads it")
    parser.add_argument("--rate", type=positive_seconds, default=15.0, help="frames per second (default 15)")
    parser.add_argument("--frames", type=positive_int, default=None, help="at most (default all)")
    parser.add_argument(
        "--perception",
        choices=("geometric", *DETECTORS),
        default="geometric",
        help="geometric (default): shapes in depth, without names; nanodet: NanoDet (make detector); network: the "
        "packaged network, for recordings of the simulator alone: it knows the looks of no real thing",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/replay"), help="folder of logs (default out/replay)"
    )
    parser.add_argument(
        "--memory",
        type=Path,
        default=None,
        metavar="FOLDER",
        help="of what is remembered (default OUT/memory)",
    )
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has printed the error or its help
        return int(stop.code or 0)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM cleans up like Ctrl-C
    try:
        recording = open_recording(options.recording)
        frames = [frame for _, frame in zip(range(options.frames or len(recording)), recording.frames())]
        if not frames:
            raise BadRecording(f"{options.recording}: no frame could be used: {dict(recording.skipped)}")
        return _play(frames, options)
    except BadRecording as error:
        print(f"lodestar replay: error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except StackError as error:
        print(f"lodestar replay: error: {error}", file=sys.stderr)
        return EXIT_STACK
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _play(frames: list[RgbdFrame], options: argparse.Namespace) -> int:
    from lodestar_bringup.domains import free_domain, session_environment
    from lodestar_bringup.stack import StackOptions, stack
    from lodestar_bringup.starter import Starter
    from lodestar_eval.demo.player import Player
    from lodestar_eval.settings import memory_in

    parameters: dict[str, dict[str, object]] = {
        **({"perception": {"adapter": "geometric"}} if options.perception == "geometric" else {}),
        "semantic_voxels": {"geometry_period": 0.0},  # fuse every frame's depth, not five per second
        **memory_in(options.memory or options.out / "memory"),
    }
    # Disabled: the grid needs a LiDAR, which such a recording lacks.
    perception = "profile" if options.perception == "geometric" else options.perception
    stacked = stack("replay", StackOptions(parameters=parameters, perception=perception))
    specs = [spec for spec in stacked if spec.name != "mapping"]
    with contextlib.ExitStack() as cleanup:
        domain = cleanup.enter_context(free_domain())
        print(
            f"Starting {len(specs)} nodes (ROS_DOMAIN_ID {domain}, logs in {options.out / 'log'}) ...",
            flush=True,
        )
        player = Player(domain)
        cleanup.callback(player.close)
        own = cleanup.enter_context(session_environment(domain))
        starter = Starter(specs, options.out / "log", environment=own)
        cleanup.enter_context(starter)
        _warm_up(player, starter, frames[0])
        return _report(player, *_send(player, starter, frames, options.rate))


def _warm_up(player: Player, starter: Starter, frame: RgbdFrame) -> None:
    """Send a frame until it is fused; then the nodes have discovered each other and compiled their code."""
    end, stamp = time.monotonic() + _READY_TIMEOUT, 1.0
    while not player.fused:
        _raise_on_death(starter)
        if time.monotonic() > end:
            raise StackError(f"no frame was fused within {_READY_TIMEOUT:.0f} s; logs: {starter.log_folder}")
        if player.ready:
            stamp += 0.5
            player.show(frame, stamp)
        time.sleep(0.5)
    if not player.wait_for(stamp, _LAST_TIMEOUT):
        raise StackError(f"a frame was not fused within {_LAST_TIMEOUT:.0f} s; logs: {starter.log_folder}")
    player.fused.clear()


def _send(
    player: Player, starter: Starter, frames: list[RgbdFrame], rate: float
) -> tuple[list[float], float, float]:
    """Send all frames; return their stamps, the seconds taken, and the largest delay of a frame."""
    shift = _LEAD - frames[0].stamp
    began, late = time.monotonic(), 0.0
    stamps = []
    for number, frame in enumerate(frames):
        wait = began + number / rate - time.monotonic()
        late = max(late, -wait)
        time.sleep(max(wait, 0.0))
        stamps.append(round(frame.stamp + shift, 6))
        player.show(frame, stamps[-1])
    took = time.monotonic() - began
    player.wait_for(stamps[-1], _LAST_TIMEOUT)
    _raise_on_death(starter)
    return stamps, took, late


def _report(player: Player, stamps: list[float], took: float, late: float) -> int:
    fused = sum(any(abs(stamp - one) < 1e-3 for one in player.fused) for stamp in stamps)
    rate = len(stamps) / max(took, 1e-9)
    print(
        f"{len(stamps)} frames in {took:.1f} s ({rate:.1f} a second, one at worst {late * 1e3:.0f} ms late)"
    )
    print(f"{fused} fused, {len(stamps) - fused} lost, {player.gaps} gaps in the deltas")
    for identity, caption in sorted(player.confirmed.items()):
        print(f"  {identity:4d}  {caption}")
    return EXIT_WHOLE if fused == len(stamps) else EXIT_LOST


def _raise_on_death(starter: Starter) -> None:
    deaths = starter.deaths()
    if deaths:
        raise StackError("\n".join(death.report() for death in deaths))


if __name__ == "__main__":
    sys.exit(main())
