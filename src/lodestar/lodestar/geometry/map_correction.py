"""Piecewise rigid correction of a map after SLAM has closed a loop (ADR 0095)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lodestar.geometry.poses import inverse

#: Metres; passes of the robot whose distances to a place differ by less count as equally near. Chosen, half a corridor.
ALIKE = 1.0


class MapCorrection:
    """Correction of a map after a jump: one transform (4, 4), in map, per node of the robot's trajectory.

    jump: (4, 4), the move of the newest part, or of the whole map if `is_rigid`. serials: (N,) int64 serial
    numbers of the N nodes, ascending. stamps: (N,) seconds, ascending. places: (N, 3) of the nodes before the
    move, metres. moves: (N, 4, 4). alike: metres; if the robot passed a place several times, passes whose
    distances to it differ by less count as equally near.
    """

    def __init__(
        self,
        jump: np.ndarray,
        serials: np.ndarray | None = None,
        stamps: np.ndarray | None = None,
        places: np.ndarray | None = None,
        moves: np.ndarray | None = None,
        alike: float = ALIKE,
        undoes: bool = False,
    ) -> None:
        self.jump, self._alike = np.asarray(jump, np.float64), alike
        #: Whether this takes back the last correction, so that data saved before that correction is valid again.
        self.undoes = undoes
        #: Whether the whole map moves by `jump`.
        self.is_rigid = moves is None or not len(moves)
        if moves is None or serials is None or stamps is None or places is None or not len(moves):
            serials, stamps = np.zeros(1, np.int64), np.zeros(1)
            places, moves = np.zeros((1, 3)), self.jump[None]
        self.serials, self.stamps, self.places, self.moves = serials, stamps, places, moves

    def at(self, stamp: float) -> np.ndarray:
        """Return the move (4, 4) of an observation at `stamp`, seconds: that of the node nearest in time."""
        return self.at_stamps(np.array([stamp]))[0]

    def at_stamps(self, stamps: np.ndarray) -> np.ndarray:
        """Return the moves (M, 4, 4) of observations at stamps (M,), seconds."""
        if len(self.moves) == 1:
            return np.broadcast_to(self.moves[0], (len(stamps), 4, 4))
        after = np.searchsorted(self.stamps, stamps).clip(1, len(self.stamps) - 1)
        later = self.stamps[after] - stamps < stamps - self.stamps[after - 1]
        return np.asarray(self.moves[np.where(later, after, after - 1)])

    def of_serials(self, serials: np.ndarray) -> np.ndarray:
        """Return the moves (M, 4, 4) of data that belongs to nodes with these serial numbers (M,)."""
        return np.asarray(self.moves[self.rows_of(serials)])

    def rows_of(self, serials: np.ndarray) -> np.ndarray:
        """Return the rows (M,) int64 of `moves` for serial numbers (M,)."""
        return np.clip(np.searchsorted(self.serials, serials, "right") - 1, 0, len(self.serials) - 1)

    def at_place(self, place: np.ndarray) -> np.ndarray:
        """Return the move (4, 4) of a place (2+,) in map that has no known stamp.

        It is the move of the nearest node; if several passes of the robot are about equally near, that of the
        oldest.
        """
        if self.is_rigid:
            return self.jump
        gaps = np.linalg.norm(self.places[:, :2] - np.asarray(place, np.float64)[:2], axis=1)
        return np.asarray(self.moves[int(np.argmax(gaps <= gaps.min() + self._alike))])

    def rows_at(self, places: np.ndarray) -> np.ndarray:
        """Return the rows (M,) int64 of `moves` for places (M, 2) in map, chosen as by `at_place`.

        The row is computed once per square metre.
        """
        tiles, of = np.unique(np.floor(places[:, :2]).astype(np.int64), axis=0, return_inverse=True)
        rows = np.empty(len(tiles), np.int64)
        for begin in range(0, len(tiles), 1024):
            part = slice(begin, begin + 1024)
            gaps = np.linalg.norm(tiles[part, None] + 0.5 - self.places[None, :, :2], axis=2)
            rows[part] = np.argmax(gaps <= gaps.min(axis=1, keepdims=True) + self._alike, axis=1)
        return rows[of.reshape(-1)]

    def moved_place(self, place: np.ndarray) -> np.ndarray:
        """Return the corrected position (2,), metres, of a place (2+,) in map; see `at_place`."""
        return np.asarray((self.at_place(place) @ [*place[:2], 0.0, 1.0])[:2])

    @cached_property
    def largest(self) -> float:
        """Return the largest displacement of a node, metres."""
        return float(np.linalg.norm(displacement(self.moves, self.places), axis=1).max())

    def seen_from(self, part_from_map: np.ndarray) -> MapCorrection:
        """Return this correction expressed in the frame `part`. part_from_map: (4, 4)."""
        map_from_part = inverse(part_from_map)
        places = self.places @ part_from_map[:3, :3].T + part_from_map[:3, 3]
        jump, moves = part_from_map @ self.jump @ map_from_part, part_from_map @ self.moves @ map_from_part
        moves[(self.moves == np.eye(4)).all(axis=(1, 2))] = np.eye(4)
        if self.is_rigid:
            return MapCorrection(jump)
        return MapCorrection(jump, self.serials, self.stamps, places, moves, self._alike, self.undoes)


def displacement(moves: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the displacements (N, 3), metres, of places (N, 3) under moves (N, 4, 4)."""
    return np.asarray(np.einsum("nij,nj->ni", moves[:, :3, :3], places) + moves[:, :3, 3] - places)


def spread(places: np.ndarray, bends: np.ndarray, turned: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the moves (N, 4, 4) that bend a chain of N nodes so that its end moves to `target` and turns.

    The first node stays. places: (N, 3), metres. bends: (N - 1, 2), standard deviations of each edge's drift:
    metres, radians. turned: (3,) rotation vector of the last node. target: (3,), metres. Yaw and x, y are the
    optimum of the chain's pose graph (`_bent`); heights and tilts are distributed in proportion to variance.
    """
    variance = np.where(bends.sum(axis=0) > 0.0, bends, 1.0) ** 2
    along, about = (variance / variance.sum(axis=0)).T
    shares = np.concatenate([[0.0], np.cumsum(about)])
    turns, laid = _bent(places[:, :2], variance, float(turned[2]), target[:2])
    moves = np.tile(np.eye(4), (len(places), 1, 1))
    moves[:, :3, :3] = rotations_about(np.array([0.0, 0.0, 1.0]), turns)
    if np.abs(turned[:2]).max() > 1e-9:
        tilt = moves[-1, :3, :3].T @ rotations_about(turned, np.ones(1))[0]
        moves[:, :3, :3] = moves[:, :3, :3] @ rotations_about(rotation_vector(tilt), shares)
    heights = places[:, 2] + np.concatenate([[0.0], np.cumsum(along)]) * (target[2] - places[-1, 2])
    ends = np.column_stack([laid, heights])
    moves[:, :3, 3] = ends - np.einsum("nij,nj->ni", moves[:, :3, :3], places)
    moves[0] = np.eye(4)
    return moves


def _bent(
    places: np.ndarray, variance: np.ndarray, turn: float, target: np.ndarray, rounds: int = 6
) -> tuple[np.ndarray, np.ndarray]:
    """Return turns (N,), radians, and places (N, 2) of a planar chain whose end is moved and turned.

    The end moves to `target` (2,) and turns by `turn`. Gauss-Newton least squares over the turns and shifts
    of the edges, weighted by variance (N - 1, 2), with the end as a constraint. A turn early in the chain
    moves its end by the lever arm between them.
    """
    steps = np.diff(places, axis=0)
    own, shifts = np.zeros(len(steps)), np.zeros_like(steps)
    free, stiff = variance[:, 1], variance[:, 0]
    for last in range(rounds + 1):
        turns = np.concatenate([[0.0], np.cumsum(own)])
        c, s = np.cos(turns[:-1] + own / 2.0), np.sin(turns[:-1] + own / 2.0)
        moved = (
            np.column_stack([c * steps[:, 0] - s * steps[:, 1], s * steps[:, 0] + c * steps[:, 1]]) + shifts
        )
        laid = places[0] + np.vstack([np.zeros(2), np.cumsum(moved, axis=0)])
        if last == rounds:
            break
        lever = laid[-1] - (laid[1:] + laid[:-1]) / 2.0
        rows = np.column_stack([np.ones(len(steps)), -lever[:, 1], lever[:, 0]])
        normal = (rows * free[:, None]).T @ rows + np.diag([0.0, stiff.sum(), stiff.sum()])
        forces = np.linalg.solve(normal, np.array([turn - turns[-1], *(target - laid[-1])]))
        own, shifts = own + free * (rows @ forces), shifts + np.outer(stiff, forces[1:])
    share = np.concatenate([[0.0], np.cumsum(stiff)]) / stiff.sum()
    return turns + share * (turn - turns[-1]), laid + np.outer(share, target - laid[-1])


def rotation_vector(rotation: np.ndarray) -> np.ndarray:
    """Return the rotation vector (3,), radians, of a rotation (3, 3) of less than half a turn."""
    skew = np.array(
        [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    )
    sine, cosine = float(np.linalg.norm(skew)) / 2.0, (float(np.trace(rotation)) - 1.0) / 2.0
    return np.zeros(3) if sine < 1e-12 else skew * (np.arctan2(sine, cosine) / (2.0 * sine))


def rotations_about(turned: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the rotations (N, 3, 3) by fractions `shares` (N,) of a rotation vector (3,) (Rodrigues)."""
    angle = float(np.linalg.norm(turned))
    x, y, z = turned / angle if angle > 0.0 else np.zeros(3)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angles = (shares * angle)[:, None, None]
    return np.eye(3) + np.sin(angles) * cross + (1.0 - np.cos(angles)) * (cross @ cross)
