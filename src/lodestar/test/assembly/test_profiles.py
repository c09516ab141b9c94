"""Tests that profiles give the same configuration as the nodes, without duplicates."""

from __future__ import annotations

from pathlib import Path

import pytest

from lodestar.assembly.config import RobotConfig
from lodestar.assembly.parameter_values import nearest
from lodestar.assembly.profiles import ProfileError, check_names, check_profiles, home_of, read_profiles


def profile(folder: Path, text: str, name: str = "own.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_profile_makes_the_tree(tmp_path: Path) -> None:
    path = profile(
        tmp_path,
        "/**:\n  ros__parameters:\n    shared: {query: {accept: 0.7}, keep_out_distance: 2,\n"
        "      fence.corners: [0, 0, 5.0, 0, 5, 5]}\n"
        "/**/mapping:\n  ros__parameters:\n    source: scan\n    scan: {max_range: 5.0}\n"
        "/**/frontier_expert:\n  ros__parameters:\n    stops.unknown_share: 0.5\n"
        "/**/scene_dictionary:\n  ros__parameters:\n    query.rerank: false\n"
        "/**/motion_gate:\n  ros__parameters:\n    cmd_vel_stamped: true\n",
    )
    config = read_profiles([path])
    assert config.shared.query.accept == config.goal_selector.loop.query.accept == 0.7
    assert config.shared.keep_out_distance == 2.0 and config.shared.fence.corners == (
        0.0,
        0.0,
        5.0,
        0.0,
        5.0,
        5.0,
    )
    assert (config.mapping.source, config.mapping.scan.max_range) == ("scan", 5.0)
    assert config.experts["frontier_expert"].expert.stops.unknown_share == 0.5
    assert config.perception == RobotConfig().perception


def test_a_later_profile_wins(tmp_path: Path) -> None:
    one = profile(tmp_path, "/**:\n  ros__parameters:\n    shared.map_id: 2\n", "use.yaml")
    two = profile(tmp_path, "/**:\n  ros__parameters:\n    shared.map_id: 3\n")
    assert read_profiles([one, two]).shared.map_id == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "/**:\n  ros__parameters:\n    shared.query.accept: 0.7\n    shared: {query: {accept: 0.5}}\n",
            r"set twice: own\.yaml:3 .* 0\.7 and own\.yaml:4 .* 0\.5",
        ),
        (
            "/**:\n  ros__parameters:\n    shared.map_id: 2\n/**:\n  ros__parameters:\n    shared.map_id: 2\n",
            r"own\.yaml:3 .*own\.yaml:6",
        ),
        (
            "/**:\n  ros__parameters:\n    shared.map_id: 2\n"
            "/**/keyframes:\n  ros__parameters:\n    shared.map_id: 3\n",
            r"own\.yaml:6 .*keyframes alone, to 3, and own\.yaml:3 .* has 2 for all",
        ),
        (
            "/**/goal_selector:\n  ros__parameters:\n    loop:\n      camera_height: 0.5\n",
            r"own\.yaml:4 .*loop\.camera_height is now shared\.viewpoints\.camera_height",
        ),
        (
            "/**:\n  ros__parameters:\n    shared.query.accept: 0.7\n"
            "/**/scene_dictionary:\n  ros__parameters:\n    query.accept: 0.6\n",
            r"query\.accept is now shared\.query\.accept.*own\.yaml:3 .*has it too, 0\.7",
        ),
        (
            "/**:\n  ros__parameters:\n    shared.query.promising: 0.5\n"
            "/**/semantic_map_expert:\n  ros__parameters:\n    promising: 0.7\n",
            r"own\.yaml:6 .*promising is now shared\.query\.promising.*own\.yaml:3 .*has it too, 0\.5",
        ),
        ("/**/mapping:\n  ros__parameters: [1]\n", r"own\.yaml:2 is no list"),
        ("a: [", "no YAML"),
    ],
)
def test_what_is_said_twice_or_by_an_old_name_is_refused_with_its_places(
    tmp_path: Path, text: str, reason: str
) -> None:
    with pytest.raises(ProfileError, match=reason):
        check_profiles([profile(tmp_path, text)])


def test_a_value_that_does_not_fit_is_refused_with_its_place(tmp_path: Path) -> None:
    path = profile(tmp_path, "/**/mapping:\n  ros__parameters:\n    grid_period: soon\n")
    with pytest.raises(ProfileError, match=r"own\.yaml:3 .*grid_period = 'soon'"):
        read_profiles([path])
    path = profile(tmp_path, "/**/mapping:\n  ros__parameters:\n    source: sonar\n")
    with pytest.raises(ProfileError, match=r"own\.yaml: source is 'sonar'"):
        read_profiles([path])


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("ego_vlm_expert", "query.accept", "shared.query.accept"),
        ("ego_vlm_expert", "viewpoints.footprint.length", "shared.body.length"),
        ("frontier_expert", "reach.travel.clearance", "shared.reach.travel.clearance"),
        ("semantic_voxels", "voxels.geometry.far", "shared.depth_range"),
        ("keyframes", "map_id", "shared.map_id"),
        ("semantic_map_expert", "promising", "shared.query.promising"),
        ("semantic_map_expert", "last_seen.promising", "shared.query.promising"),
        ("ego_vlm_expert", "worth.promising", "shared.query.promising"),
        ("goal_selector", "loop.promising", "shared.query.promising"),
        ("semantic_map_expert", "promising_confidence", None),
        ("scene_dictionary", "query.parser", "shared.language_model"),
        ("scene_dictionary", "query.chat.base_url", "shared.endpoint.base_url"),
        ("scene_dictionary", "vision.chat.model", "shared.vision_endpoint.model"),
        ("scene_dictionary", "query.rerank", None),
        ("goal_selector", "pictures.adapter", "shared.pictures.adapter"),
        ("frontier_expert", "alpha", None),
        ("sim", "seed", None),
    ],
)
def test_former_names_lead_to_their_home(part: str, old: str, new: str | None) -> None:
    assert home_of(part, old) == new


NODES = ("perception", "mapping", "goal_selector")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "/**/percption:\n  ros__parameters: {model: x}\n",
            r"own.yaml:2 .*no node percption; did you mean perception",
        ),
        ("goal_selecter:\n  ros__parameters: {model: x}\n", "did you mean goal_selector"),
        (
            "/**:\n  ros__parameters:\n    shared: {query: {acept: 0.7}}\n",
            r"own.yaml:3 .*shared.query.acept.*did you mean shared.query.accept",
        ),
        ("/**:\n  ros__parameters:\n    shared.zebra: 1\n", "shared are shared.appearance"),
    ],
)
def test_a_typing_error_is_named_with_its_line_and_the_nearest_right_name(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ProfileError, match=said):
        check_names([profile(tmp_path, text)], NODES)


def test_nodes_of_others_may_stand_in_a_profile(tmp_path: Path) -> None:
    text = "/camera/driver:\n  ros__parameters: {fps: 15}\n/**/mapping:\n  ros__parameters: {source: scan}\n"
    check_names([profile(tmp_path, text)], NODES)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("query.acept", "query.accept"), ("accept", "query.accept"), ("zebra", ""), ("length", "")],
)
def test_the_nearest_name(name: str, meant: str) -> None:
    assert nearest(name, ["query.accept", "body.length", "other.length", "map_id"]) == meant
