"""The piecewise rigid move of a map where SLAM has closed a loop (ADR 0095)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lodestar.geometry.poses import inverse

#: Metres by which passes are about as near to a place; chosen, half a corridor.
ALIKE = 1.0


class MapCorrection:
    """The move of a map after a jump: one transform (4, 4), in map, per node of the robot's way.

    jump: (4, 4), the move of the newest part, of everything if `is_rigid`. serials: (N,) int64, ascending. stamps: (N,)
    seconds, ascending. places: (N, 3) of the nodes before the move, metres. moves: (N, 4, 4). alike: metres by which
    passes are about as near to a place.
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
        #: Whether it takes the last correction back: what was kept from before that one holds again.
        self.undoes = undoes
        #: Whether everything moves by `jump`.
        self.is_rigid = moves is None or not len(moves)
        if moves is None or serials is None or stamps is None or places is None or not len(moves):
            serials, stamps = np.zeros(1, np.int64), np.zeros(1)
            places, moves = np.zeros((1, 3)), self.jump[None]
        self.serials, self.stamps, self.places, self.moves = serials, stamps, places, moves

    def at(self, stamp: float) -> np.ndarray:
        """Return the move (4, 4) of what was seen at a stamp: that of the node nearest in time."""
        return self.at_stamps(np.array([stamp]))[0]

    def at_stamps(self, stamps: np.ndarray) -> np.ndarray:
        """Return the moves (M, 4, 4) of what was seen at stamps (M,)."""
        if len(self.moves) == 1:
            return np.broadcast_to(self.moves[0], (len(stamps), 4, 4))
        after = np.searchsorted(self.stamps, stamps).clip(1, len(self.stamps) - 1)
        later = self.stamps[after] - stamps < stamps - self.stamps[after - 1]
        return np.asarray(self.moves[np.where(later, after, after - 1)])

    def of_serials(self, serials: np.ndarray) -> np.ndarray:
        """Return the moves (M, 4, 4) of what belongs to nodes of these serial numbers (M,)."""
        return np.asarray(self.moves[self.rows_of(serials)])

    def rows_of(self, serials: np.ndarray) -> np.ndarray:
        """Return (M,) int64, the places in `moves` for serial numbers (M,)."""
        return np.clip(np.searchsorted(self.serials, serials, "right") - 1, 0, len(self.serials) - 1)

    def at_place(self, place: np.ndarray) -> np.ndarray:
        """Return the move (4, 4) of a place (2+,) in map of which only that is known.

        It belongs to the nearest node; where several passes are about as near, to the oldest.
        """
        if self.is_rigid:
            return self.jump
        gaps = np.linalg.norm(self.places[:, :2] - np.asarray(place, np.float64)[:2], axis=1)
        return np.asarray(self.moves[int(np.argmax(gaps <= gaps.min() + self._alike))])

    def rows_at(self, places: np.ndarray) -> np.ndarray:
        """Return (M,) int64, the places in `moves` for places (M, 2) in map, as by `at_place`; one for each metre."""
        tiles, of = np.unique(np.floor(places[:, :2]).astype(np.int64), axis=0, return_inverse=True)
        rows = np.empty(len(tiles), np.int64)
        for begin in range(0, len(tiles), 1024):
            part = slice(begin, begin + 1024)
            gaps = np.linalg.norm(tiles[part, None] + 0.5 - self.places[None, :, :2], axis=2)
            rows[part] = np.argmax(gaps <= gaps.min(axis=1, keepdims=True) + self._alike, axis=1)
        return rows[of.reshape(-1)]

    def moved_place(self, place: np.ndarray) -> np.ndarray:
        """Return where a place (2+,) in map lies now, (2,), metres; see `at_place`."""
        return np.asarray((self.at_place(place) @ [*place[:2], 0.0, 1.0])[:2])

    @cached_property
    def largest(self) -> float:
        """Return the largest displacement of a node, metres."""
        ends = np.einsum("nij,nj->ni", self.moves[:, :3, :3], self.places) + self.moves[:, :3, 3]
        return float(np.linalg.norm(ends - self.places, axis=1).max())

    def seen_from(self, part_from_map: np.ndarray) -> MapCorrection:
        """Return this move for what lies in another frame. part_from_map: (4, 4)."""
        map_from_part = inverse(part_from_map)
        places = self.places @ part_from_map[:3, :3].T + part_from_map[:3, 3]
        jump, moves = part_from_map @ self.jump @ map_from_part, part_from_map @ self.moves @ map_from_part
        moves[(self.moves == np.eye(4)).all(axis=(1, 2))] = np.eye(4)
        if self.is_rigid:
            return MapCorrection(jump)
        return MapCorrection(jump, self.serials, self.stamps, places, moves, self._alike, self.undoes)


def spread(places: np.ndarray, bends: np.ndarray, turned: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the moves (N, 4, 4) of a chain whose first node stays and whose last one comes to `target`, turned.

    places: (N, 3), metres. bends: (N - 1, 2), how much each edge may have drifted: metres, radians. turned: (3,) a
    rotation vector, of the last node. target: (3,). The turn is spread over the edges, which are then laid end to end
    again; what is left of the gap is spread as a shift. To first order that is the optimum of the chain's pose graph.
    """
    totals = bends.sum(axis=0)
    even = np.full(len(bends), 1.0 / len(bends))
    along, about = (bends[:, k] / totals[k] if totals[k] > 0.0 else even for k in (0, 1))
    turns = np.concatenate([[0.0], np.cumsum(about)])
    middles = rotations_about(turned, (turns[1:] + turns[:-1]) / 2.0)
    steps = np.einsum("nij,nj->ni", middles, np.diff(places, axis=0))
    laid = places[0] + np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])
    laid += np.outer(np.concatenate([[0.0], np.cumsum(along)]), target - laid[-1])
    moves = np.tile(np.eye(4), (len(places), 1, 1))
    moves[:, :3, :3] = rotations_about(turned, turns)
    moves[:, :3, 3] = laid - np.einsum("nij,nj->ni", moves[:, :3, :3], places)
    moves[0] = np.eye(4)
    return moves


def rotation_vector(rotation: np.ndarray) -> np.ndarray:
    """Return the rotation vector (3,), radians, of a rotation (3, 3) by less than half a turn."""
    skew = np.array(
        [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    )
    sine, cosine = float(np.linalg.norm(skew)) / 2.0, (float(np.trace(rotation)) - 1.0) / 2.0
    return np.zeros(3) if sine < 1e-12 else skew * (np.arctan2(sine, cosine) / (2.0 * sine))


def rotations_about(turned: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the rotations (N, 3, 3) by shares (N,) of a rotation vector (3,) (Rodrigues)."""
    angle = float(np.linalg.norm(turned))
    x, y, z = turned / angle if angle > 0.0 else np.zeros(3)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angles = (shares * angle)[:, None, None]
    return np.eye(3) + np.sin(angles) * cross + (1.0 - np.cos(angles)) * (cross @ cross)
