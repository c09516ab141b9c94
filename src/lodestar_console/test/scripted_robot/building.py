"""The small building of the scripted console: its data, answers and images."""

from __future__ import annotations

import cv2
import numpy as np

from lodestar_console import protocol
from lodestar_console.board.board import Board

SPEED = 0.6  # m/s of the robot
PERIOD = 0.1  # s between two steps
ROOMS = (("kitchen", 0.0, 0.0, 5.0, 4.0), ("office", 5.0, 0.0, 10.0, 4.0), ("hall", 0.0, 4.0, 10.0, 7.0))
THINGS = (
    ("chair", "red chair", 8.0, 1.0), ("chair", "blue chair", 2.0, 3.0), ("table", "wooden table", 2.5, 1.2),
    ("printer", "printer", 9.2, 3.2), ("plant", "<b>plant</b> & pot", 1.0, 6.0), ("sofa", "grey sofa", 6.0, 6.2),
)  # fmt: skip
NODES = ("mapping", "perception", "goal_selector", "motion_gate", "scene_dictionary")
FOOTPRINT = [(0.35, 0.16), (0.35, -0.16), (-0.35, -0.16), (-0.35, 0.16)]


Cloud = tuple[np.ndarray, np.ndarray, np.ndarray]


def show_building(board: Board, points: int, objects: int) -> Cloud:
    """Show a building with objects on a board, and return its cloud: 30,000 points of walls, then clutter."""
    rng = np.random.default_rng(1)
    wall = rng.random((points, 3)) * (10.0, 7.0, 2.5)
    side = rng.integers(4, size=points)
    is_wall = np.arange(points) < 30_000
    for number, (axis, at) in enumerate(((0, 0.0), (0, 9.99), (1, 0.0), (1, 6.99))):
        wall[is_wall & (side == number), axis] = at
    colors = np.stack([80 + 15 * side, 100 + 10 * side, 140 - 10 * side], axis=1).astype(np.uint8)
    cloud = wall, colors, side.astype(np.int64)
    board.cloud.show(*cloud, 0.05, board.now())
    things = [*THINGS] + [
        ("box", f"box {n}", float(rng.random() * 10), float(rng.random() * 7))
        for n in range(objects - len(THINGS))
    ]
    board.put("entities", *(_entity(board, n, *thing) for n, thing in enumerate(things, 1)))
    board.set("rooms", [
        protocol.Room(id=n, name=name, outline=[(x0, y0), (x1, y0), (x1, y1), (x0, y1)], x=(x0 + x1) / 2,
                      y=(y0 + y1) / 2, weight=0.8, area=(x1 - x0) * (y1 - y0), contents=["chair"])
        for n, (name, x0, y0, x1, y1) in enumerate(ROOMS, 1)
    ])  # fmt: skip
    board.set("frontiers", [protocol.Frontier(id=1, x=9.5, y=5.0, gain=6.5, size=1.2)])
    board.set("zones", [
        protocol.Zone(id="z1", kind="keep_out", outline=[(4, 5), (5, 5), (5, 6), (4, 6)], text="wet floor")
    ])  # fmt: skip
    board.set("changes", protocol.Changes(against="the map that was loaded", changes=[
        protocol.Change(kind="moved", text="The blue chair (2) moved 1.4 m (93% sure).", x=2.0, y=3.0, entities=[2]),
        protocol.Change(kind="gone", text="The lamp (11) is gone; it was in the office (88% sure).", x=6.0, y=3.2),
        protocol.Change(kind="new", text="The printer (4) is new (81% sure).", x=9.2, y=3.2, entities=[4]),
    ]))  # fmt: skip
    board.set("vocabulary", protocol.Vocabulary(words=sorted({t[0] for t in THINGS}), by="script"))
    names = NODES
    board.set("health", protocol.Health(
        findings=[protocol.Finding(level="warning", text="perception is slow: 2.1 images/s", do="see its log")],
        nodes=[protocol.NodeHealth(name=n, alive=True, pss=90 << 20, rate=10.0, age=0.1) for n in names],
        stack=[protocol.StackNode(name=n, state="there") for n in names], cpu=0.4,
    ))  # fmt: skip
    return cloud


def _entity(board: Board, number: int, label: str, caption: str, x: float, y: float) -> protocol.Entity:
    box = ((x - 0.3, y - 0.3, 0.0), (x + 0.3, y + 0.3, 0.9))
    now = board.now()
    return protocol.Entity(
        id=number, label=label, caption=caption, attributes=caption.split()[:-1], mean=(x, y, 0.45), box=box,
        confidence=0.9, state="active", room=1, first_seen=now - 60, last_seen=now, keyframes=[number],
    )  # fmt: skip


def answer(text: str, now: float) -> protocol.AnswerValue:
    """Return the answer to a question, for the object that its text names."""
    thing = next((t for t in THINGS if t[0] in text), None)
    if thing is None:
        value = protocol.AnswerValue(
            text="I have not seen it.",
            confidence=0.0,
            places=[],
            proofs=[],
            entities=[],
            coverage=0.6,
            directive=f"find {text[:40]}",
            last_verified=0.0,
        )
        return value
    number = THINGS.index(thing) + 1
    value = protocol.AnswerValue(
        text=f"The {thing[1]} is in the office.",
        confidence=0.9,
        places=[protocol.Place(x=thing[2], y=thing[3], z=0.4, text=thing[1])],
        proofs=[
            protocol.Proof(
                kind="keyframe",
                id=str(number),
                text=thing[1],
                at=now,
                keyframe=number,
                x=thing[2],
                y=thing[3],
            )
        ],
        entities=[number],
        coverage=0.6,
        directive="",
        last_verified=now,
    )
    return value


def memories(text: str, now: float) -> list[protocol.MemoryItem]:
    """Return memories of the objects whose captions contain a text. now: stamp, s."""
    return [
        protocol.MemoryItem(id=str(n), at=now - 30, text=f"I saw a {t[1]}.", x=t[2], y=t[3], keyframes=[n])
        for n, t in enumerate(THINGS, 1)
        if text.lower() in t[1]
    ]


def near_cells(x: float, y: float) -> np.ndarray:
    """Return the cells, (140, 200) bool of 5 cm, within view of a place (m)."""
    rows, columns = np.mgrid[0:140, 0:200]
    return np.hypot(columns * 0.05 - x, rows * 0.05 - y) < 3.0


def grid_cells(seen: np.ndarray) -> np.ndarray:
    """Return the grid for seen cells (140, 200) bool: 0 unknown, 1 free, 2 occupied."""
    walls = np.zeros_like(seen)
    walls[[0, -1], :] = walls[:, [0, -1]] = True
    walls[:80, 100] = walls[80, :] = True
    walls[30:50, 100] = walls[80, 30:50] = walls[80, 140:160] = False
    return np.where(seen, np.where(walls, 2, 1), 0).astype(np.uint8)


def camera_image(number: int, stamp: float) -> tuple[protocol.CameraHead, bytes]:
    """Return head and JPEG of an image with one detection, whose position depends on `number`."""
    image = np.full((240, 320, 3), 90, np.uint8)
    left = 60 + 20 * (number % 5)
    cv2.rectangle(image, (left, 80), (left + 90, 200), (40, 40, 200), -1)
    outline = [(float(x), float(y)) for x, y in ((left, 80), (left + 90, 80), (left + 90, 200), (left, 200))]
    seen = protocol.DetectedOutline(label="chair", score=0.8, outline=outline, entity=1)
    head = protocol.CameraHead(width=320, height=240, stamp=stamp, detections=[seen])
    return head, cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 70])[1].tobytes()


def thing_image(number: int, outlined: bool) -> bytes:
    """Return the JPEG of a numbered object, with a box if `outlined`."""
    image = np.full((240, 320, 3), 40 + number, np.uint8)
    if outlined:
        cv2.rectangle(image, (60, 60), (200, 200), (0, 200, 255), 2)
    return cv2.imencode(".jpg", image)[1].tobytes()
