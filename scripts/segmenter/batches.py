"""Random batches of augmented images and training targets, computed on the images' device (a GPU, if any)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from segmenter.data import IGNORED, Images
from segmenter.network import OFFSET_UNIT

_THINGS = 256  # bound of the object numbers in an image
_DRAWN = 48  # most centres drawn per image, of the largest objects
_LEAST = 4  # least cells of an object whose centre is drawn


@dataclass(frozen=True)
class ChangeConfig:
    """Strength of the random image augmentations: zoom, brightness, tint, noise, blur. Values are
    assumptions.
    """

    zoom: float = 1.4  # largest enlargement, of half of the images
    strength: float = 0.25  # standard deviation of the logarithm of brightness, contrast and saturation
    tint: float = 0.06  # likewise of each channel
    noise: float = 0.03  # largest standard deviation of the noise, of 1
    blur: float = 0.3  # share of images that are blurred


@dataclass(frozen=True)
class Batch:
    """A batch of B images (B, 3, H, W) in 0..1, and training targets at half their size, h = H / 2, w = W /
    2.

    kinds: (B, h, w) int64, class, IGNORED = not trained. heat: (B, h, w), heat map of object centres. offset:
    (B, 2, h, w), x and y from the pixel to its object's centre in OFFSET_UNIT. weight: (B, h, w), of an
    object's pixels, larger for small objects; 0 without an object. colors: (B, h, w) int64, IGNORED = not
    trained.
    """

    image: Tensor
    kinds: Tensor
    heat: Tensor
    offset: Tensor
    weight: Tensor
    colors: Tensor


class Batches:
    """Draws batches from images on a device."""

    def __init__(
        self, images: Images, device: torch.device, size: int, seed: int, config: ChangeConfig
    ) -> None:
        self.size, self.config = size, config
        parts = (images.rgb, images.kinds, images.things, images.colors)
        self._rgb, self._kinds, self._things, self._colors = (
            torch.from_numpy(part).to(device) for part in parts
        )
        self._random = torch.Generator(device)
        self._random.manual_seed(seed)
        self._order = torch.empty(0, dtype=torch.int64, device=device)

    def draw(self) -> Batch:
        """Return a batch of augmented images; every image is drawn once before any is drawn again."""
        if len(self._order) < self.size:
            more = torch.randperm(len(self._rgb), generator=self._random, device=self._rgb.device)
            self._order = torch.cat([self._order, more])
        which, self._order = self._order[: self.size], self._order[self.size :]
        image = self._rgb[which].permute(0, 3, 1, 2).float() / 255.0
        labels = torch.stack([self._kinds[which], self._things[which]], 1).float()
        grid = self._grid(*image.shape[2:])
        image = functional.grid_sample(image, grid, "bilinear", "border", align_corners=False)
        half = functional.grid_sample(labels, grid[:, ::2, ::2], "nearest", "border", align_corners=False)
        kinds, things = half.round().long().unbind(1)
        colors = self._colors[which].long().gather(1, things.flatten(1)).view(things.shape)
        return targets(self._changed(image), kinds, things, colors)

    def _uniform(self, *shape: int) -> Tensor:
        return torch.rand(shape, generator=self._random, device=self._rgb.device)

    def _normal(self, *shape: int) -> Tensor:
        return torch.randn(shape, generator=self._random, device=self._rgb.device)

    def _grid(self, height: int, width: int) -> Tensor:
        """Return the sampling grid of the augmented images, (B, height, width, 2), for `grid_sample`."""
        count = self.size
        zoom = 1.0 + (self.config.zoom - 1.0) * self._uniform(count) * (self._uniform(count) < 0.5)
        mirror = torch.where(self._uniform(count) < 0.5, -1.0, 1.0)
        matrix = torch.zeros(count, 2, 3, device=zoom.device)
        matrix[:, 0, 0], matrix[:, 1, 1] = mirror / zoom, 1.0 / zoom
        matrix[:, :, 2] = (2.0 * self._uniform(count, 2) - 1.0) * (1.0 - 1.0 / zoom)[:, None]
        return functional.affine_grid(matrix, [count, 1, height, width], align_corners=False)

    def _changed(self, image: Tensor) -> Tensor:
        config, count = self.config, len(image)
        brightness, contrast, saturation = (
            torch.exp(self._normal(count, 1, 1, 1) * config.strength) for _ in range(3)
        )
        image = image * brightness * torch.exp(self._normal(count, 3, 1, 1) * config.tint)
        mean = image.mean((1, 2, 3), keepdim=True)
        image = mean + (image - mean) * contrast
        gray = image.mean(1, keepdim=True)
        image = gray + (image - gray) * saturation
        blurred = functional.avg_pool2d(image, 3, 1, 1, count_include_pad=False)
        share = self._uniform(count, 1, 1, 1) * (self._uniform(count, 1, 1, 1) < config.blur)
        image = image + (blurred - image) * share
        noise = self._uniform(count, 1, 1, 1) * config.noise
        return (image + self._normal(*image.shape) * noise).clamp(0.0, 1.0)


def targets(image: Tensor, kinds: Tensor, things: Tensor, colors: Tensor) -> Batch:
    """Return the batch with training targets for the classes, objects and colours of each pixel.

    image: (B, 3, H, W). kinds, things, colors: (B, h, w) int64, at half the image's size.
    """
    count, rows, columns = kinds.shape
    y, x = torch.meshgrid(
        torch.arange(rows, device=kinds.device), torch.arange(columns, device=kinds.device), indexing="ij"
    )
    flat = (things + _THINGS * torch.arange(count, device=kinds.device)[:, None, None]).reshape(-1)
    sums = torch.zeros(3, count * _THINGS, device=kinds.device)
    for row, values in enumerate((torch.ones_like(x), x, y)):
        sums[row].scatter_add_(0, flat, values.expand_as(kinds).reshape(-1).float())
    area = sums[0].clamp(min=1.0)
    center = sums[1:] / area
    there = things > 0
    own = center[:, flat].reshape(2, count, rows, columns)
    offset = (own - torch.stack([x, y])[:, None]) * there * (2.0 / OFFSET_UNIT)
    pixels = area[flat].reshape(kinds.shape)
    weight = there * (250.0 / pixels).sqrt().clamp(0.5, 4.0)
    heat = _heat(area.view(count, -1), center, rows, columns)
    return Batch(image, kinds, heat, offset.permute(1, 0, 2, 3), weight, colors)


def _heat(area: Tensor, center: Tensor, rows: int, columns: int) -> Tensor:
    """Return the heat maps of object centres, (B, rows, columns): the maximum of Gaussians around the centres
    of B images; their width grows with the object's size.
    """
    count = len(area)
    sizes = area.clone()
    sizes[:, 0] = 0.0  # number 0 is the background
    most, which = sizes.topk(_DRAWN, 1)
    sigma = (most.sqrt() * 0.12).clamp(1.2, 4.0)[..., None]
    x, y = (part.view(count, -1).gather(1, which)[..., None] for part in center)
    along_x = torch.exp(-((torch.arange(columns, device=area.device) - x) ** 2) / (2.0 * sigma**2))
    along_y = torch.exp(-((torch.arange(rows, device=area.device) - y) ** 2) / (2.0 * sigma**2))
    along_x = along_x * (most >= _LEAST)[..., None]
    heat = torch.zeros(count, rows, columns, device=area.device)
    for part_x, part_y in zip(along_x.split(8, 1), along_y.split(8, 1)):
        heat = torch.maximum(heat, (part_y[..., :, None] * part_x[..., None, :]).amax(1))
    return heat


def loss(batch: Batch, outputs: Sequence[Tensor], of_class: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the loss of the network's outputs and its parts. of_class: (1 + classes,) weight of each class."""
    kinds, center, offset, colors = (output.float() for output in outputs)
    known = (batch.kinds != IGNORED).float()
    entropy = functional.cross_entropy(kinds, batch.kinds, reduction="none", ignore_index=IGNORED)
    weight = known * torch.where(batch.weight > 0, batch.weight, 1.0)
    weight = weight * of_class[batch.kinds.clamp(max=len(of_class) - 1)]
    away = (offset - batch.offset).abs().sum(1)
    of_color = functional.cross_entropy(colors, batch.colors, reduction="none", ignore_index=IGNORED)
    colored = batch.weight * (batch.colors != IGNORED)
    parts = {
        "kind": _mean(entropy, weight),
        "center": ((center[:, 0] - batch.heat) ** 2 * known).mean() * 100.0,
        "offset": _mean(away, batch.weight),
        "color": _mean(of_color, colored) * 0.3,
    }
    return torch.stack(list(parts.values())).sum(), {name: part.detach() for name, part in parts.items()}


def _mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / weight.sum().clamp(min=1.0)
