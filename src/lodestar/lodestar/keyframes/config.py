"""Configuration of the selection and storage of keyframes."""

from __future__ import annotations

from dataclasses import dataclass

from lodestar.timing.stamps import SAME_MOMENT


@dataclass(frozen=True)
class KeyframeConfig:
    """Selection and limits of keyframes (STaR IV-A).

    An image is new if no stored image newer than `refresh` has a pose within `distance` and `angle_deg` of it, or if
    the camera stands and something came into its view or went out of it since.
    """

    distance: float = 0.5  # metres; chosen
    angle_deg: float = 25.0  # degrees; chosen
    # seconds after which the same view is stored again; chosen
    refresh: float = 120.0
    change_interval: float = 1.0  # seconds between two images of a view that changes; chosen
    stands: float = 0.1  # metres within which a camera stands; chosen
    stands_deg: float = 5.0  # degrees, likewise; chosen
    gone_after: float = (
        2.0  # seconds after which what a view does not show any more has gone; chosen: ten images
    )
    interval: float = 0.2  # seconds, the least between keyframes; chosen: bounds encoding to 5 Hz
    max_count: int = 2000  # images on disk; chosen
    max_bytes: int = 256 * 2**20  # of images on disk; chosen: 128 KiB per image
    # share of max_count and of max_bytes up to which wanted images are never deleted, 0..1; chosen: the rest is for new
    # images, so that a full store still takes in what the robot sees now
    wanted_share: float = 0.75
    # of it, share of both limits for images of memories, which outlive their run, 0..1; chosen: the rest is this run's
    remembered_share: float = 0.5
    jpeg_quality: int = 88  # 1 to 100; chosen
    # seconds between stamps of an image and its instances; chosen
    link_tolerance: float = SAME_MOMENT

    def __post_init__(self) -> None:
        if not 0.0 <= self.wanted_share < 1.0:
            raise ValueError("wanted_share must be at least 0 and below 1: new images need some room")
        if self.remembered_share < 0.0:
            raise ValueError("remembered_share must be at least 0; 0 = images end with their run")


@dataclass(frozen=True)
class PickConfig:
    """Timing of offers, by stamps."""

    period: float = 0.2  # seconds between two offers; chosen: that of `KeyframeConfig.interval`
    # seconds without any instances after which every image is offered, because no detector runs; chosen: ten periods
    patience: float = 2.0
    images: int = 20  # remembered while their instances are computed; chosen

    def __post_init__(self) -> None:
        if self.period < 0.0 or self.patience < 0.0 or self.images < 1:
            raise ValueError("period and patience must not be negative, and images must be at least 1")
