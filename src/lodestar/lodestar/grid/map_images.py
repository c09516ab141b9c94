"""Maps in the format of map_server: a YAML file and an image, read as nav2_map_server reads them."""

from __future__ import annotations

import difflib
import logging
import math
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.grid.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyGrid2D

MAX_CELLS = 2**26  # cells of an image; chosen: larger images are not maps
MAX_YAML = 2**20  # bytes of the YAML file; chosen
UNKNOWN_OCCUPANCY = 1.0 - 205.0 / 255.0  # occupancy of the grey value that map_saver writes for unknown cells
_EXACT = 0.5 / 255.0  # brightness difference within which two 8-bit greys are equal
_LOSSY = 8.0 / 255.0  # likewise for image formats with lossy compression; chosen
_log = logging.getLogger(__name__)


class BadMapFile(ValueError):
    """Raised for a map that cannot be read; the message says what to change."""


class MapMode(Enum):
    """Meaning of a pixel; the names of map_server."""

    TRINARY = "trinary"  # free, occupied or unknown
    SCALE = "scale"  # values between the thresholds become 1 to 99
    RAW = "raw"  # the grey of 8 bits is the cell's value; above 100 it is unknown


@dataclass(frozen=True)
class MapFile:
    """Keys of the YAML file. Defaults are map_saver's of ROS 1, for files that leave keys out."""

    image: Path
    resolution: float  # metres per cell
    origin: tuple[float, float]  # (x, y) of the lower left corner in `map`, metres
    negate: bool = False  # white is occupied
    occupied_thresh: float = 0.65  # occupancy [0, 1] from which a cell is occupied
    free_thresh: float = 0.196  # occupancy [0, 1] up to which a cell is free
    mode: MapMode = MapMode.TRINARY


def read_map_image(path: Path) -> OccupancyGrid2D:
    """Return the map of a map_server YAML file; log warnings about unusual values. Raises BadMapFile."""
    file = read_map_file(path)
    try:
        grid, warnings = grid_of(file)
    except BadMapFile as error:
        raise BadMapFile(f"{path}: {error}") from error
    for text in warnings:
        _log.warning("%s: %s", path, text)
    return grid


def grid_of(file: MapFile) -> tuple[OccupancyGrid2D, list[str]]:
    """Return the map, and warnings about unusual values. Raises BadMapFile if the image cannot be read."""
    brightness, opaque, lossy = _pixels(file.image)
    cells, warnings = cells_of(brightness, opaque, file, _LOSSY if lossy else _EXACT)
    if lossy:
        warnings.append(
            f"the compression of {file.image.name} changes the greys: save the map as PNG or PGM instead"
        )
    return OccupancyGrid2D(cells, file.resolution, file.origin), warnings


def cells_of(
    brightness: np.ndarray, opaque: np.ndarray, file: MapFile, tolerance: float = _EXACT
) -> tuple[np.ndarray, list[str]]:
    """Return cells (rows, columns) int8, row 0 at the lowest y, and warnings.

    brightness: (rows, columns) float, 0 = black .. 1 = white, row 0 at the top. opaque: (rows, columns) bool;
    a pixel that is not opaque is unknown. tolerance: brightness difference within which a pixel counts as
    map_saver's grey for unknown cells. In a trinary map such pixels stay unknown whatever the thresholds are,
    because map_saver of Humble writes a free_thresh that would make them free.
    """
    warnings = []
    if file.mode is MapMode.RAW:
        values = np.rint(brightness * 255.0)
        cells = np.where(values <= OCCUPIED, values, UNKNOWN)
    else:
        occupancy = brightness if file.negate else 1.0 - brightness
        low, high = file.free_thresh, file.occupied_thresh
        between = np.rint((occupancy - low) / (high - low) * OCCUPIED)
        cells = between if file.mode is MapMode.SCALE else np.full(occupancy.shape, UNKNOWN, np.float64)
        cells = np.where(occupancy >= high, OCCUPIED, np.where(occupancy <= low, FREE, cells))
        if file.mode is MapMode.TRINARY:
            saved = (np.abs(occupancy - UNKNOWN_OCCUPANCY) < tolerance) & opaque
            changed = float((saved & (cells != UNKNOWN)).mean()) if saved.size else 0.0
            cells = np.where(saved, UNKNOWN, cells)
            if changed:
                warnings.append(_kept_unknown(file, changed))
    return np.where(opaque, cells, UNKNOWN).astype(np.int8)[::-1], warnings


def _kept_unknown(file: MapFile, share: float) -> str:
    is_low = file.free_thresh >= UNKNOWN_OCCUPANCY - _LOSSY
    key, value, kind = (
        ("free_thresh", file.free_thresh, "free") if is_low else ("occupied_thresh", file.occupied_thresh, "occupied")
    )  # fmt: skip
    return (
        f"{key} {value:g} would make {share:.1%} of the cells {kind}, those of the grey by which map_saver "
        f"writes unknown (205); they stay unknown. Set {key} to {0.196 if is_low else 0.65} to be rid of this warning"
    )


# --- the YAML file -------------------------------------------------------------------------------------


def read_map_file(path: Path) -> MapFile:
    """Return the keys of a YAML file of map_server. Raises BadMapFile."""
    data = _yaml(path)
    known = [field.name for field in fields(MapFile)]
    missing = [key for key in ("image", "resolution", "origin") if data.get(key) is None]
    if missing:
        raise BadMapFile(f"{path}: no map_server map: it lacks {', '.join(missing)}")
    for key in data:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            said = f"; is {near[0]} meant?" if near else ""
            _log.warning("%s: the key %s is unknown and has no effect%s", path, key, said)
    try:
        return MapFile(
            _image_path(path, data["image"]),
            _resolution(data["resolution"]),
            _origin(data["origin"]),
            _negate(data.get("negate", MapFile.negate)),
            **_thresholds(data),
            mode=_mode(data.get("mode", MapFile.mode.value)),
        )
    except BadMapFile as error:
        raise BadMapFile(f"{path}: {error}") from error


def _yaml(path: Path) -> dict[Any, Any]:
    import yaml

    try:
        if path.stat().st_size > MAX_YAML:
            raise BadMapFile(f"{path}: more than {MAX_YAML >> 20} MiB are no map's YAML file")
        data = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise BadMapFile(f"{path}: cannot be read ({error})") from error
    except (yaml.YAMLError, ValueError) as error:
        raise BadMapFile(f"{path}: no YAML: {error}") from error
    if not isinstance(data, dict):
        raise BadMapFile(f"{path}: no map_server map: it needs the keys image, resolution, origin")
    return data


def _number(key: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise BadMapFile(f"no map_server map: {key} is {value!r}; write a finite number")
    return number


def _resolution(value: Any) -> float:
    number = _number("resolution", value)
    if number <= 0.0:
        raise BadMapFile(f"resolution is {number:g}; write the metres per pixel, above 0")
    return number


def _origin(value: Any) -> tuple[float, float]:
    if not isinstance(value, (list, tuple)) or len(value) not in (2, 3):
        raise BadMapFile(f"origin is {value!r}; write [x, y, 0.0] in metres")
    numbers = [_number("origin", one) for one in value]
    yaw = numbers[2] if len(numbers) > 2 else 0.0
    if abs(math.remainder(yaw, math.tau)) > 1e-6:
        raise BadMapFile(f"origin has a yaw of {yaw:g} rad; turn the image instead and write 0")
    return numbers[0], numbers[1]


def _negate(value: Any) -> bool:
    if isinstance(value, (bool, int)):
        return bool(value)
    raise BadMapFile(f"negate is {value!r}; write 0, or 1 where white is occupied")


def _thresholds(data: dict[Any, Any]) -> dict[str, float]:
    found = {
        key: _number(key, data.get(key, getattr(MapFile, key))) for key in ("occupied_thresh", "free_thresh")
    }
    for key, value in found.items():
        if not 0.0 <= value <= 1.0:
            raise BadMapFile(
                f"{key} is {value:g}; write a share from 0 to 1, such as {getattr(MapFile, key)}"
            )
    high, low = found["occupied_thresh"], found["free_thresh"]
    if low >= high:
        raise BadMapFile(
            f"free_thresh {low:g} must be below occupied_thresh {high:g}; exchange or correct them"
        )
    return found


def _mode(value: Any) -> MapMode:
    try:
        return MapMode(str(value).lower())
    except ValueError:
        names = ", ".join(mode.value for mode in MapMode)
        raise BadMapFile(f"mode is {value!r}; write one of {names}") from None


def _image_path(path: Path, value: Any) -> Path:
    """Return the path of the image, relative to the YAML file's folder. Raises BadMapFile if it is missing."""
    name = str(value).strip()
    image = path.parent / (Path(name).expanduser() if name.startswith("~/") else Path(name))
    if name and image.is_file():
        return image
    beside = path.parent / name.replace("\\", "/").rsplit("/", 1)[-1]
    if name and beside.is_file():
        raise BadMapFile(
            f"its image {image} is missing; {beside.name} lies beside it: write image: {beside.name}"
        )
    raise BadMapFile(
        f"its image {image} is missing or no image; write its path, or its name from the folder of the YAML file"
    )


# --- the image -----------------------------------------------------------------------------------------


def _pixels(path: Path) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return brightness, opaque pixels, and whether the image format is lossy. Raises BadMapFile.

    Brightness: (rows, columns) float64 in [0, 1]; colours are averaged. Opaque: (rows, columns) bool.
    """
    from PIL import Image

    try:
        with Image.open(path) as image:
            columns, rows = image.size
            if columns * rows > MAX_CELLS:
                raise BadMapFile(
                    f"its image {path} has {columns} x {rows} pixels; at most {MAX_CELLS} are read"
                )
            lossy = image.format in ("JPEG", "JPEG2000", "MPO")
            if image.mode.startswith(("I", "F")):  # 16-bit grey; of colour Pillow keeps the upper 8 bits
                brightness, opaque = _wide(image, path)
            else:
                channels = np.asarray(image.convert("RGBA"), np.uint8)
                brightness = channels[..., :3].sum(axis=2, dtype=np.uint16) / (3.0 * 255.0)
                opaque = channels[..., 3] == 255
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        if isinstance(error, BadMapFile):
            raise
        raise BadMapFile(f"its image {path} is missing or no image that can be read: {error}") from error
    return brightness, opaque, lossy


def _wide(image: Any, path: Path) -> tuple[np.ndarray, np.ndarray]:
    values = np.asarray(image).astype(np.float64)
    if image.mode in ("I", "F") and image.format not in ("PNG", "PPM"):
        raise BadMapFile(
            f"its image {path} has pixels of more than 16 bits; save it as a PNG or PGM of 8 bits"
        )
    hidden = image.info.get("transparency")
    opaque = np.ones(values.shape, bool) if hidden is None else values != float(hidden)
    return values / 65535.0, opaque
