"""Map and scene: grid, objects, rooms, frontiers, zones and the detector's vocabulary."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nav_msgs.msg import OccupancyGrid

from lodestar.experts.registry import FRONTIER
from lodestar.mapping.follower import Part
from lodestar_console import protocol
from lodestar_console.board.board import Board
from lodestar_console.intake import convert
from lodestar_console.intake.worker import KeyedWorker
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.building_input import BuildingInput
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.delta_client import entities_client
from lodestar_ros.node import LodestarNode

ROOMS_PERIOD = 2.0  # s between two updates of the objects per room


class MapState:
    """Show map and scene as parts of the page.

    Parts: ``grid``, ``entities``, ``rooms``, ``frontiers``, ``zones``, ``changes`` and ``vocabulary``.

    Subscribes: ``grid``, ``entities``, ``regions``, ``frontiers``, ``closed_ways``, ``keep_out_mask``, ``changes``,
    ``vocabulary``, ``mapping/building``. Calls: ``get_entities``.
    """

    def __init__(self, node: LodestarNode, board: Board, worker: KeyedWorker) -> None:
        self._board, self._worker = board, worker
        self._session = ("", 0)
        self._regions: msg.RegionArray | None = None
        self._regions_shown: tuple[int, int] = (-1, -1)
        self._ways = msg.ClosedWayArray()  # closed ways of all floors
        self._mask: OccupancyGrid | None = None
        self._frontiers: msg.FrontierArray | None = None  # not shown yet
        stream = entities_client(node, "get_entities", self._on_parts, archived=True)
        node.listen(msg.SceneDelta, "entities", stream.hear, qos.EVENT)
        self._listen(node, OccupancyGrid, "grid", self._take_grid)
        self._listen(node, msg.RegionArray, "regions", self._take_regions)
        self._listen(node, msg.ClosedWayArray, "closed_ways", self._take_ways)
        self._listen(node, OccupancyGrid, "keep_out_mask", self._take_keep_out)
        self._listen(node, msg.MapChanges, "changes", self._take_changes)
        self._listen(node, msg.VocabularyReport, "vocabulary", self._take_vocabulary)
        self._floors = BuildingInput(node, lambda _: worker.submit(self._show_zones, "mapping/building"))
        if "frontiers" in FRONTIER.publishes:
            self._listen(node, msg.FrontierArray, "frontiers", self._take_frontiers)
        node.steady_timer(ROOMS_PERIOD, lambda: worker.submit(self._show_rooms, "rooms"))

    def _listen(self, node: LodestarNode, kind: Any, topic: str, take: Any) -> None:
        node.listen(
            kind, topic, lambda message: self._worker.submit(lambda: take(message), topic), qos.LATCHED
        )

    # --- on the worker --------------------------------------------------------------------------------

    def _take_grid(self, message: OccupancyGrid) -> None:
        stamp = stamp_from_msg(message.header.stamp)
        place = convert.origin_of(message.info)
        if self._board.grid.show(
            convert.grid_cells(message), round(message.info.resolution, 6), place, stamp
        ):
            self._board.changed()
        self._show_frontiers()

    def _on_parts(self, parts: Any) -> None:
        self._worker.submit(lambda: self._take_entities(parts))

    def _take_entities(self, parts: Any) -> None:
        table = self._board.tables["entities"]
        for part, delta in parts:
            if part is Part.OVERTAKEN:
                continue
            session = delta.session_id, delta.map_id
            items = {int(one.id): convert.entity(one) for one in delta.updated}
            gone = [int(i) for i in delta.removed] + [
                int(m.loser) for m in delta.merges if m.loser != m.winner
            ]
            for identity in gone:
                items.pop(identity, None)
            if part is Part.FIRST or session != self._session:
                table.replace_all(items)
            else:
                table.change(items, tuple(gone))
            self._session = session
        self._board.changed()

    def _take_regions(self, message: msg.RegionArray) -> None:
        self._regions = message
        self._show_rooms()

    def _show_rooms(self) -> None:
        """Show the rooms with their objects, if either has changed."""
        message, table = self._regions, self._board.tables["entities"]
        if message is None or (shown := (int(message.revision), table.revision)) == self._regions_shown:
            return
        self._regions_shown = shown
        counts: dict[int, Counter[str]] = {}
        for one in table.values():
            if one.state == "active":
                counts.setdefault(one.room, Counter())[one.label] += 1
        contents = {room: [label for label, _ in labels.most_common(20)] for room, labels in counts.items()}
        self._board.set("rooms", convert.rooms(message, contents))

    def _take_frontiers(self, message: msg.FrontierArray) -> None:
        self._frontiers = message
        self._show_frontiers()

    def _show_frontiers(self) -> None:
        """Show the frontiers once the grid, whose cells they count, is there."""
        grid = self._board.grid.picture()
        if self._frontiers is not None and grid is not None:
            self._board.set("frontiers", convert.frontiers(self._frontiers, grid[1]))
            self._frontiers = None

    def _take_ways(self, message: msg.ClosedWayArray) -> None:
        self._ways = message
        self._show_zones()

    def _take_keep_out(self, message: OccupancyGrid) -> None:
        self._mask = message
        self._show_zones()

    def _show_zones(self) -> None:
        """Show closed ways and keep-out areas of the robot's floor, and other areas of the keep-out mask."""
        ways = convert.closed_ways(self._ways, self._floors.newest)
        areas = [] if self._mask is None else convert.keep_out(self._mask, ways)
        self._board.set("zones", areas + ways)

    def _take_changes(self, message: msg.MapChanges) -> None:
        self._board.set("changes", convert.changes(message))

    def _take_vocabulary(self, message: msg.VocabularyReport) -> None:
        unseen = [
            f"{w.word} (nearest: {w.nearest})" if w.nearest else w.word for w in message.words if not w.label
        ]
        self._board.set(
            "vocabulary",
            protocol.Vocabulary(
                words=sorted(message.names)[:1000],
                unseen=unseen[:50],
                by=message.detector,
                is_open=message.is_open,
                problem=convert.brief(message.problem),
            ),
        )
