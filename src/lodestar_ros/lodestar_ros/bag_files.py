"""Recordings on disk: bags in the format of rosbag2, written and read with rosbags because rosbag2 has no wheel."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

NAMES = "lodestar.names"  # key of a bag's custom data: JSON, topic name before remaps -> recorded topic
_GIB = 2**30


#: Definitions of message types for bags that contain none (before Iron); later releases define the same types.
DEFAULT_TYPES = Stores.ROS2_HUMBLE
_FILES = (".mcap", ".db3")
_ZSTD = b"\x28\xb5\x2f\xfd"  # first bytes of a compressed message; no serialised message begins with them


class UnreadableBag(ValueError):
    """Raised for a path that holds no readable bag. why: the reason and the remedy, without the path."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} is no bag that can be read: {why}")
        self.why = why


@dataclass(frozen=True)
class BagConfig:
    """Limits of a recording: duration of a part, total size, free disk space; and compression."""

    part: float = 60.0  # s of a part: a recorder that is killed loses at most its last one
    most: float = 20.0  # GiB of one recording, after which it ends
    least_free: float = 2.0  # GiB that stay free on the disk
    compressed: bool = True  # zstd, which makes it about half as large

    def __post_init__(self) -> None:
        if self.part <= 0.0 or self.most <= 0.0 or self.least_free < 0.0:
            raise ValueError("part and most must be above 0, and least_free not negative")


class BagWriter:
    """Writes serialised messages into parts of a folder, `part_0001`, `part_0002`, ..., each of them a complete bag.

    Not safe for threads. counts: messages by topic. full: why recording has stopped, "" = it has not.
    """

    def __init__(self, folder: Path, config: BagConfig | None = None) -> None:
        self.folder = folder
        self.config = config or BagConfig()
        self.counts: Counter[str] = Counter()
        self.size = 0  # bytes written, before compression
        self.full = ""
        self._names: dict[str, str] = {}
        self._types: dict[str, str] = {}  # topic -> name of its message type
        self._store = get_typestore(Stores.LATEST)
        self._writer: Writer | None = None
        self._connections: dict[str, Any] = {}
        self._parts = 0
        self._part_begin = 0

    def add(self, name: str, topic: str, type_name: str) -> None:
        """Register a topic before its first message is written. name: the topic's name before remaps."""
        define(self._store, [type_name])
        self._names[name], self._types[topic] = topic, type_name

    def write(self, topic: str, arrival: int, raw: bytes) -> None:
        """Write a serialised message. arrival: ns. Raises OSError if writing fails."""
        if self.full:
            return
        if self._writer is None or arrival - self._part_begin > self.config.part * 1e9:
            self._begin_part(arrival)
            if self.full:
                return
        assert self._writer is not None
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(
                topic, self._types[topic], typestore=self._store
            )
        self._writer.write(self._connections[topic], arrival, raw)
        self.counts[topic] += 1
        self.size += len(raw)

    def _begin_part(self, arrival: int) -> None:
        self.close()
        taken = sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        if taken > self.config.most * _GIB:
            self.full = f"it has reached {self.config.most:g} GiB"
        elif shutil.disk_usage(self.folder).free < self.config.least_free * _GIB:
            self.full = f"the disk has less than {self.config.least_free:g} GiB left"
        if self.full:
            return
        self._parts += 1
        self._part_begin = arrival
        writer = Writer(self.folder / f"part_{self._parts:04d}", version=9, storage_plugin=StoragePlugin.MCAP)
        if self.config.compressed:
            writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        writer.open()
        self._writer, self._connections = writer, {}

    def close(self) -> None:
        """Close the current part, which makes it a complete bag."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.set_custom_data(NAMES, json.dumps(self._names))
            writer.close()


def define(store: Typestore, types: Iterable[str]) -> None:
    """Add message types and their fields' types to the store; missing definitions come from packages."""
    found: dict[str, Any] = {}
    wanted = list(types)
    while wanted:
        name = wanted.pop()
        if name in store.types or name in found:
            continue
        package, _, kind = name.split("/")
        text = (Path(get_package_share_directory(package)) / "msg" / f"{kind}.msg").read_text()
        known = get_types_from_msg(text, name)
        found.update(known)
        wanted += _referenced(known[name])
    store.register(found)


def _referenced(definition: Any) -> list[str]:
    """Return the names of the message types in a definition's fields."""
    names = []
    for _, (_, detail) in definition[1]:
        while not isinstance(detail, str) and not isinstance(detail[0], str):
            _, detail = detail[0]  # the element type of an array or sequence
        if isinstance(detail, str) and "/" in detail:
            names.append(detail)
    return names


@contextmanager
def open_bag(path: Path) -> Iterator[AnyReader]:
    """Open one of our recordings, a rosbag2 bag, its .mcap or .db3 files, or a ROS 1 bag. Raises UnreadableBag.

    A bag without definitions is read with the types of ROS and of the installed packages.
    """
    _refuse_unmoved_messages(path)
    try:
        reader = AnyReader(parts_of(path), default_typestore=get_typestore(DEFAULT_TYPES))
        reader.open()
    except Exception as error:  # rosbags raises many kinds of errors for a torn or foreign file
        raise UnreadableBag(path, _why(path, error)) from error
    with closing(reader):
        if reader.is2:
            for name in {connection.msgtype for connection in reader.connections}:
                # a type without a definition can be listed, but not read
                with suppress(PackageNotFoundError, OSError, ValueError):
                    define(reader.typestore, [name])
        yield reader


def messages_of(reader: AnyReader, topics: Iterable[str]) -> Iterator[tuple[Any, int, bytes]]:
    """Yield (connection, arrival in ns, serialised message) of these topics in order of arrival.

    Raises UnreadableBag where the file is torn.
    """
    path, wanted = Path(str(reader.paths[0])), set(topics)
    chosen = [connection for connection in reader.connections if connection.topic in wanted]
    if not chosen:
        return
    stream = reader.messages(connections=chosen)
    while True:
        try:
            connection, arrival, raw = next(stream)
        except StopIteration:
            return
        except Exception as error:
            raise UnreadableBag(path, _why(path, error)) from error
        raw = bytes(raw)
        if raw[:4] == _ZSTD:
            raise UnreadableBag(
                path, "its messages are compressed, as only metadata.yaml says: give the folder with it"
            )
        yield connection, arrival, raw


def _refuse_unmoved_messages(path: Path) -> None:
    """Raise UnreadableBag where a .db3 has a write-ahead log, because rosbags ignores it and would lose messages."""
    for part in parts_of(path):
        for log in part.glob("*.db3-wal") if part.is_dir() else [part.with_name(part.name + "-wal")]:
            if log.is_file() and log.stat().st_size:
                file = log.name.removesuffix("-wal")
                raise UnreadableBag(
                    path,
                    f"messages are in {log.name} that its recorder, killed or still at work, has not moved "
                    f'into {file}. Stop it; then, in that folder: python3 -c "import sqlite3; '
                    f"sqlite3.connect('{file}').execute('pragma wal_checkpoint(truncate)')\"",
                )


def _why(path: Path, error: Exception) -> str:
    """Return why a bag cannot be opened or read, and the remedy."""
    said = f"{error}" or error.__class__.__name__
    version = re.search(r"version (\d+) not supported", said)
    if not path.exists():
        return "nothing is there"
    if version:
        return (
            f"metadata.yaml has version {version[1]}, which is newer than what rosbags reads: convert the bag "
            "(ros2 bag convert), or take metadata.yaml away to read its files as they are"
        )
    if "files are missing" in said:
        return f"{said} Copy them too, or take metadata.yaml away to read what is there"
    if path.is_dir() and not (path / "metadata.yaml").is_file():
        inside = ", ".join(sorted(found.parent.name for found in path.glob("*/metadata.yaml"))[:5])
        hint = f"; give one of the bags in it: {inside}" if inside else ""
        return f"it has neither metadata.yaml nor files of a bag ({', '.join(_FILES)}){hint}"
    if path.suffix == ".zstd":
        return "decompress it (unzstd), or give the folder with its metadata.yaml"
    if path.is_file() and path.suffix not in (*_FILES, ".bag"):
        return f"give the folder of a bag, or a file of it ({', '.join(_FILES)})"
    if path.is_file():
        return f"{said}. A torn file may be mended by `mcap recover`, or by `.recover` of sqlite3"
    return said


class BagReader:
    """Reader of one of our recordings, of a rosbag2 bag, or of .mcap and .db3 files without a metadata.yaml.

    unreadable: parts that a killed recorder left incomplete; they are skipped. torn: part -> why its messages
    end early, found while reading. types: by topic. names: name before remaps -> topic, empty for a bag of
    another recorder. Raises UnreadableBag, also where there is no message.
    """

    def __init__(self, path: Path) -> None:
        self.unreadable: list[Path] = []
        self.torn: dict[Path, str] = {}
        self.types: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self._parts: list[Path] = []
        self._begins: list[int] = []
        self._ends: list[int] = []
        last = ""
        for part in parts_of(path):
            try:
                with open_bag(part) as reader:
                    self._add(part, reader)
            except UnreadableBag as error:
                self.unreadable.append(part)
                last = error.why
        if not self._parts:
            raise UnreadableBag(path, last or "nothing is there")
        if not self._begins:
            raise UnreadableBag(
                path, "it has no message: was the recorder stopped before anything was published?"
            )
        self.begin, self.end = min(self._begins), max(self._ends)  # ns, first and last message

    def _add(self, part: Path, reader: AnyReader) -> None:
        """Register the topics and times of a part. Raises UnreadableBag for a ROS 1 bag."""
        if not reader.is2:
            raise UnreadableBag(
                part, "it is a bag of ROS 1: convert it (rosbags-convert --src FILE --dst FOLDER)"
            )
        self._parts.append(part)
        if reader.message_count:
            self._begins.append(reader.start_time)
            self._ends.append(reader.end_time)
        for connection in reader.connections:
            self.types[connection.topic] = connection.msgtype
            self.counts[connection.topic] += connection.msgcount
        self.names.update(_names_in(part))

    def messages(self, topics: Iterable[str]) -> Iterator[tuple[str, int, bytes]]:
        """Yield (topic, arrival in ns, serialised message) of these topics in order of arrival."""
        wanted = set(topics)
        for part in self._parts:
            try:
                with open_bag(part) as reader:
                    for connection, arrival, raw in messages_of(reader, wanted):
                        yield connection.topic, arrival, raw
            except UnreadableBag as error:
                self.torn[part] = error.why


def parts_of(path: Path) -> list[Path]:
    """Return the bags of a recording in order: its parts, the folder, or the files if there is no metadata.yaml."""
    if path.name == "metadata.yaml":
        path = path.parent
    if not path.is_dir():
        return [path]
    parts = sorted(path.glob("part_*"))
    if not parts and not (path / "metadata.yaml").is_file():
        files = [file for file in path.iterdir() if file.suffix in (*_FILES, ".zstd")]
        parts = sorted(files, key=lambda file: [(len(run), run) for run in re.findall(r"\d+|\D+", file.name)])
    return parts or [path]


def _names_in(part: Path) -> dict[str, str]:
    import yaml

    file = part / "metadata.yaml"
    if not file.is_file():
        return {}
    information = (yaml.safe_load(file.read_text()) or {}).get("rosbag2_bagfile_information") or {}
    return dict(json.loads((information.get("custom_data") or {}).get(NAMES, "{}")))
