"""Train the small network that segments objects in the simulator's images; write it as ONNX with its metrics.

Data come from `python -m lodestar_sim.dataset`. Needs torch (`make setup EXTRAS=torch`), and uses a GPU if
there is one:

    python scripts/train_segmenter.py --data out/images/train --validate out/images/other --out out/segmenter
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    # NumPy's threads in the processes that load images; torch's number is set below
    os.environ.setdefault(_name, "1")

from segmenter.data import class_names, load_images  # noqa: E402

from lodestar_sim.dataset.coco import CocoError  # noqa: E402

MODEL = "segmenter.onnx"


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is no number above 0")
    return value


def _whole(low: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text)
        if value < low:
            raise argparse.ArgumentTypeError(f"{text} is less than {low}")
        return value

    return read


def main(arguments: list[str] | None = None) -> int:
    """Train and write model, log and metrics; return exit status 0, or 2 with a message for invalid data."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders of lodestar_sim.dataset")
    parser.add_argument("--validate", type=Path, help="a folder of other buildings, on which it is scored")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder of the model, the log and the metrics"
    )
    parser.add_argument("--start", type=Path, help="an exported network to go on from, with its classes")
    parser.add_argument(
        "--only-colors",
        action="store_true",
        help="with --start: fit the head for colours alone, to all images",
    )
    parser.add_argument("--seconds", type=_positive, default=7200.0, help="of training (default 7200)")
    parser.add_argument(
        "--steps", type=_whole(0), default=0, help="of training, in place of --seconds; repeatable"
    )
    parser.add_argument("--batch", type=_whole(1), default=64, help="images of a step (default 64)")
    parser.add_argument("--rate", type=_positive, default=3e-3, help="largest learning rate (default 0.003)")
    parser.add_argument("--least", type=_whole(1), default=30, help="things that a class needs (default 30)")
    parser.add_argument(
        "--jobs", type=_whole(1), default=os.cpu_count() or 1, help="processes that load images"
    )
    parser.add_argument(
        "--most-scored", type=_whole(0), default=0, help="images that are scored (default all)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--buildings", default="", help="which buildings the data show, for the metadata")
    options = parser.parse_args(arguments)
    if options.only_colors and options.start is None:
        parser.error("--only-colors needs --start: the network whose head for colours is trained")
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        import torch  # noqa: F401
    except ImportError:
        print("there is no torch: make setup EXTRAS=torch", file=sys.stderr)
        return 2
    with (options.out / "train.log").open("w") as log:

        def told(line: str) -> None:
            print(line, flush=True)
            log.write(line + "\n")
            log.flush()

        try:
            _run(options, told)
        except CocoError as error:
            told(str(error))
            return 2
    return 0


def _run(options: argparse.Namespace, told) -> None:
    began = time.perf_counter()
    if options.start:
        from segmenter.resuming import exported_names  # imported late, because it loads torch
    names = exported_names(options.start) if options.start else class_names(options.data, options.least)
    # before torch is loaded, because these processes are forked
    images = load_images(options.data, names, options.jobs, options.seed)
    told(f"{len(images)} images, {len(names)} classes, loaded in {time.perf_counter() - began:.0f} s")
    import torch
    from segmenter.coloring import fit_colors
    from segmenter.export import about, export
    from segmenter.scores import score
    from segmenter.training import TrainConfig, train

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    where = torch.cuda.get_device_name(0) if device.type == "cuda" else f"{torch.get_num_threads()} threads"
    told(f"on {where}")
    config = TrainConfig(
        seconds=options.seconds,
        steps=options.steps,
        batch=options.batch,
        rate=options.rate,
        seed=options.seed,
    )
    path = options.out / MODEL
    facts = {"buildings": options.buildings, "images": len(images), "seed": options.seed}
    if options.only_colors:  # the metadata of the network's own training are kept
        of_colors = about(**{f"color_{name}": value for name, value in facts.items()})
        right = fit_colors(options.start, images, path, of_colors, options.seed)
        told(f"the head for colours names {right:.3f} of its pixels right")
    else:
        network = train(images, len(names), config, device, told, options.start)
        told(f"{sum(p.numel() for p in network.parameters())} parameters")
        export(network, names, images.rgb.shape[1:3], path, about(**facts))
    told(f"{path}: {path.stat().st_size} bytes")
    if options.validate:
        scores = score(path, options.validate, options.jobs, options.most_scored)
        (options.out / "metrics.json").write_text(json.dumps(scores, indent=1) + "\n")
        told(json.dumps({name: value for name, value in scores.items() if name != "by_class"}))
    told(f"{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    sys.exit(main())
