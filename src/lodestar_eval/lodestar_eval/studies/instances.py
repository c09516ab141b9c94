"""Study: instances of the semantic voxel map against the truth of simulated buildings.

Alternatively identity errors among look-alikes by appearance feature of detections, paired over the same tours.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from lodestar_eval.instance_metrics import metrics_of
from lodestar_eval.options import add_jobs_option, positive_int, seed_list
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Paired, Row, Rows, Study, Whole

#: 20 buildings, (world, seed), ordered so that the first few include every kind.
WORLDS = (
    ("apartment", 1), ("office", 1), ("warehouse", 1), ("apartment", 2), ("office", 2), ("apartment", 3),
    ("office", 3), ("apartment", 4), ("apartment", 5), ("office", 4), ("warehouse", 2), ("apartment", 6),
    ("office", 5), ("apartment", 7), ("apartment", 8), ("office", 6), ("warehouse", 3), ("apartment", 9),
    ("office", 7), ("apartment", 10),
)  # fmt: skip
SCENARIOS = ("noise", "jump", "clean")
SCENES = ("alike", "colored", "office", "apartment", "warehouse")
_MASKS = ("masks", "mild")
_FEATURES = ("histogram", "truth")
_BY = ("scene", "masks", "feature")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worlds", type=positive_int, default=len(WORLDS), help="how many of the 20 buildings (default all)"
    )
    parser.add_argument("--seed-offset", type=int, default=0, help="added to the seeds: other buildings")
    parser.add_argument("--scenarios", default=",".join(SCENARIOS), help="noise, jump, clean (default all)")
    parser.add_argument(
        "--look-alikes", type=seed_list, metavar="SEEDS",
        help="compare features of detections in rooms of look-alikes instead, such as 1-20",
    )  # fmt: skip
    parser.add_argument(
        "--scenes",
        default="alike,colored",
        help="of --look-alikes: alike, colored, office, apartment, warehouse",
    )
    add_jobs_option(parser)


def _cases(options: argparse.Namespace) -> list[tuple[Any, ...]]:
    if options.look_alikes is not None:
        scenes = _chosen(options.scenes, SCENES, "scene")
        return [
            (one, seed, _MASKS, ("none", *_FEATURES)) for one in scenes for seed in options.look_alikes.values
        ]
    scenarios = _chosen(options.scenarios, SCENARIOS, "scenario")
    return [(kind, seed + options.seed_offset, scenarios, ()) for kind, seed in WORLDS[: options.worlds]]


def _chosen(text: str, known: tuple[str, ...], what: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise BadOptions(f"there is no {what} {name!r}; there are {', '.join(known)}")
    if not names:
        raise BadOptions(f"no {what} is given; there are {', '.join(known)}")
    return names


def _measure(kind: str, seed: int, scenarios: list[str], features: tuple[str, ...]) -> Iterator[Row]:
    """Yield a row per map. features: of the detections among look-alikes; () = a building without features."""
    from lodestar_eval.instance_runs import Building, Variant
    from lodestar_eval.lookalikes import PAINTS, lookalike_room
    from lodestar_sim.worlds import world_from_spec

    world = lookalike_room(kind, seed) if kind in PAINTS else world_from_spec(kind, seed)
    variants = [Variant(scenario, feature) for scenario in scenarios for feature in features or ("none",)]
    for variant, counts in Building(world, seed, variants).run().items():
        names = {"scene": kind, "masks": variant.scenario, "feature": variant.feature}
        found = metrics_of([counts])
        errors = {"errors": found["fragments"] + found["switches"]}
        yield {
            **({**names, **errors} if features else {"building": kind, "scenario": variant.scenario}),
            "seed": seed, **found, "_counts": counts,
        }  # fmt: skip


def _of_scenario(rows: Rows) -> dict[str, float]:
    found = metrics_of([row["_counts"] for row in rows])
    return {f"{{scenario}}.{name}": value for name, value in found.items()}


def _lost(rows: Rows) -> dict[str, float]:
    """Return the F1 that the jump costs, if both scenarios were measured."""
    noise, jump = (
        [row["_counts"] for row in rows if row.get("scenario") == one] for one in ("noise", "jump")
    )
    lost = metrics_of(noise)["f1_0.25"] - metrics_of(jump)["f1_0.25"]
    return {"_lost": lost} if noise and jump else {}


def _of_feature(rows: Rows) -> dict[str, float]:
    found = metrics_of([row["_counts"] for row in rows])
    shown = ("objects", "fragments", "switches", "merges", "f1_0.25", "fuse_ms")
    return {f"{{scene}}.{{masks}}.{{feature}}.{name}": found[name] for name in shown}


def _against_plain(rows: Rows) -> dict[str, float]:
    """Return numbers of seeds with fewer and with more errors than by labels only, and the exact sign test's p."""
    from lodestar_eval.sentence_answers import mcnemar

    errors = {(row["feature"], row["seed"]): row["errors"] for row in rows}
    metrics: dict[str, float] = {}
    for feature in _FEATURES:
        apart = [errors[feature, row["seed"]] - row["errors"] for row in rows if row["feature"] == "none"]
        found = mcnemar([one < 0 for one in apart], [one > 0 for one in apart])
        names = ("fewer", "more", "p")
        metrics |= {f"{{scene}}.{{masks}}.{feature}.{name}": value for name, value in zip(names, found)}
    return metrics


BENCHMARK = Study(
    "instances",
    "Instances against the truth of 20 buildings: F1, duplicates and switches.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Whole(_of_scenario, ("scenario",), shown=True),
        Whole(_lost),
        Whole(_of_feature, _BY, shown=True),
        *(
            Paired(f"{{scene}}.{{masks}}.{feature}.difference", "errors", "feature", (feature, "none"), _BY[:2])
            for feature in _FEATURES
        ),
        Whole(_against_plain, _BY[:2], shown=True),
    ),
    bars=(
        Limit("noise.f1_0.25", 0.85, name="F1@0.25 with noise"),
        Limit("noise.duplicates", 1.10, False, "duplicates per object with noise"),
        Limit("clean.f1_0.25", 0.95, name="F1@0.25 without noise"),
        Limit("_lost", 0.05, False, "F1@0.25 lost to the jump"),
        *(
            Limit(f"{name}.difference", 0.0, False, f"{name}: mean difference from label only")
            for name in (f"{scene}.{masks}.{one}" for scene in SCENES for masks in _MASKS for one in _FEATURES)
        ),
    ),
    columns=(
        "building", "scene", "masks", "feature", "seed", "scenario", "objects", "f1_0.25", "f1_0.5", "precision_0.25",
        "recall_0.25", "duplicates", "switches", "switches_per_100", "fragments", "merges", "label_accuracy",
        "fuse_ms",
    ),
    notes=(
        "Truth is the box of the part of each object that showed within 5 m without error, for objects that "
        "showed with 200 pixels in 3 frames. An instance matches an object where their boxes' IoU reaches the "
        "bound (best assignment; each axis counts as at least 0.05 m). Duplicates: confirmed instances per "
        "object that has any, an instance belonging to the object whose pixels it was given most. Switches: an "
        "object was given to another instance than before and that one was not merged into it. small: objects whose "
        "longest seen side is below 0.2 m. The robot tours the reachable floor and turns round at each stop.",
        "Fragments: confirmed instances of an object beyond its first, at the end. Merges: objects most of whose "
        "pixels went to an instance of another object. Captions are the labels, as a detector's are. Among "
        "look-alikes, masks: true masks; mild: that noise; localisation drifts in both. truth: a random unit vector "
        "of each true object; histogram: the robot's; none: label only. Differences are of fragments plus switches, "
        "paired by seed.",
    ),
    left_out="because such a building cannot be made",
)  # fmt: skip
