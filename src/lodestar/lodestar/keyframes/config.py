"""Configuration of the selection and storage of keyframes."""

from __future__ import annotations

from dataclasses import dataclass

KEYFRAME_CHANGE_INTERVAL = 1.0  # seconds between two images of a view that changes; chosen


@dataclass(frozen=True)
class KeyframeConfig:
    """Selection and limits of keyframes (STaR IV-A).

    An image is stored if no stored image newer than `refresh` has a similar pose. It is also stored if the
    camera stands still and an object has come into view or left it since the last stored image of this view.
    """

    # seconds after which the same view is stored again; chosen
    refresh: float = 120.0
    interval: float = 0.2  # seconds, the least between keyframes; chosen: bounds encoding to 5 Hz
    max_count: int = 2000  # images on disk; chosen
    max_bytes: int = 256 * 2**20  # of images on disk; chosen: 128 KiB per image
    # share of max_count and of max_bytes up to which wanted images are never deleted, 0..1; chosen: the rest is for new
    # images, so that a full store still takes in what the robot sees now
    wanted_share: float = 0.75
    # share of both limits, within wanted_share, for images of memories, which outlive a run, 0..1; chosen:
    # the rest is for this run
    remembered_share: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.wanted_share < 1.0:
            raise ValueError("wanted_share must be at least 0 and below 1: new images need some room")
        if self.remembered_share < 0.0:
            raise ValueError("remembered_share must be at least 0; 0 = images end with their run")


@dataclass(frozen=True)
class PickConfig:
    """Number of images that are held until the object instances in them are known."""

    images: int = 20  # images remembered while their instances are computed; chosen

    def __post_init__(self) -> None:
        if self.images < 1:
            raise ValueError("images must be at least 1")
