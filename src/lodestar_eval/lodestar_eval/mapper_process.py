"""The voxel map in a process of its own, so that its memory can be measured separately."""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from lodestar.perception.frames import RgbdFrame, SegmentedFrame


@dataclass(frozen=True)
class Cost:
    """Cost of one frame: seconds of wall time and of the processor (the map works on one thread).

    After it: bytes in RAM above those before the map, now and at most so far.
    """

    seconds: float
    cpu_seconds: float
    bytes: int
    peak_bytes: int


@dataclass(frozen=True)
class Totals:
    """Totals of the map: surface voxels, geometry blocks, voted voxels, confirmed instances, rejected frames by
    reason.
    """

    surface_voxels: int
    blocks: int
    voxels: int
    instances: int
    rejected: dict[str, int]


class MapperProcess:
    """A map in a process of its own; `warm_up` frames go to a discarded map first, so that memory settles."""

    def __init__(self, warm_up: list[tuple[RgbdFrame, SegmentedFrame]]):
        context = multiprocessing.get_context("spawn")
        self._connection, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(there,), daemon=True)
        self._process.start()
        there.close()
        self._stamp = 0.0
        for frame in warm_up:
            self._ask(frame)
        self._ask("begin")

    def take(self, frame: RgbdFrame, segmented: SegmentedFrame) -> Cost | None:
        """Integrate the frame with a stamp 0.25 s after the previous one; return None if the map rejected it."""
        self._stamp += 0.25
        answer = self._ask((replace(frame, stamp=self._stamp), replace(segmented, stamp=self._stamp)))
        assert answer is None or isinstance(answer, Cost)
        return answer

    def close(self) -> Totals:
        """End the process and return the map's totals."""
        answer = self._ask("end")
        self._process.join(30.0)
        assert isinstance(answer, Totals)
        return answer

    def _ask(self, request: object) -> object:
        self._connection.send(request)
        answer = self._connection.recv()
        if isinstance(answer, Exception):
            raise RuntimeError("the map's process failed") from answer
        return answer


def _serve(connection: Connection) -> None:
    try:
        _answer(connection)
    except EOFError:
        return  # the parent has ended
    except Exception as error:
        connection.send(error)


def _answer(connection: Connection) -> None:
    from lodestar.assembly import parts
    from lodestar.mapping.semantic_voxels import FrameRejected
    from lodestar_eval.memory import peak_bytes, reset_peak, resident_bytes

    voxels = parts.voxel_map()
    base = 0
    while True:
        request = connection.recv()
        if request == "begin":
            del voxels
            reset_peak()
            base = resident_bytes()
            voxels = parts.voxel_map()
            connection.send(None)
        elif request == "end":
            confirmed = sum(one.confirmed for one in voxels.instances().values())
            blocks, rejected = voxels.geometry.blocks.live, {r.value: n for r, n in voxels.rejected.items()}
            surface = voxels.geometry.surface_voxels()
            connection.send(Totals(surface, blocks, voxels.voxel_count, confirmed, rejected))
            return
        else:
            frame, segmented = request
            began, began_cpu = time.perf_counter(), time.thread_time()
            try:
                voxels.integrate_depth(frame)
                voxels.fuse(frame, segmented)
            except FrameRejected:  # counted by the map and reported at the end
                connection.send(None)
                continue
            seconds, cpu_seconds = time.perf_counter() - began, time.thread_time() - began_cpu
            del request, frame, segmented
            connection.send(Cost(seconds, cpu_seconds, resident_bytes() - base, peak_bytes() - base))
