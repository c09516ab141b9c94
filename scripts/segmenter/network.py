"""A light encoder and decoder with Panoptic-DeepLab's heads: about 1 million parameters, output at half the size."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

#: Channels, blocks, expansion and kernel of each stage; each stage halves the size.
STAGES = ((24, 1, 1, 3), (40, 2, 3, 3), (72, 3, 3, 5), (112, 4, 3, 5), (160, 3, 3, 5))
WIDTH = 96  # channels of the decoder below half the image's size
FINE = 48  # channels at half the image's size
OFFSET_UNIT = 32.0  # unit of the learned offsets, pixels of the image


def _convolution(
    inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    )


class Bottleneck(nn.Module):
    """Inverted residual of MobileNetV2 (Sandler et al. 2018)."""

    def __init__(self, inputs: int, outputs: int, expansion: int, kernel: int, stride: int) -> None:
        super().__init__()
        inner = inputs * expansion
        self.expand = (
            nn.Sequential(_convolution(inputs, inner), nn.ReLU()) if expansion > 1 else nn.Identity()
        )
        self.depthwise = nn.Sequential(_convolution(inner, inner, kernel, stride, inner), nn.ReLU())
        self.project = _convolution(inner, outputs)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, outputs, H / stride, W / stride) of x (B, inputs, H, W)."""
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.adds else y


class Separable(nn.Sequential):
    """Depthwise convolution of 5 x 5, then one of 1 x 1."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(
            _convolution(inputs, inputs, 5, 1, inputs), nn.ReLU(), _convolution(inputs, outputs), nn.ReLU()
        )


class Segmenter(nn.Module):
    """Predicts class, centre, offset and colour of every second pixel of an image (B, 3, H, W) in 0..1."""

    def __init__(self, classes: int, colors: int) -> None:
        super().__init__()
        stages: list[nn.Module] = []
        inputs = 3
        for number, (outputs, blocks, expansion, kernel) in enumerate(STAGES):
            made: list[nn.Module] = []
            if number == 0:
                made.append(nn.Sequential(_convolution(inputs, outputs, 3, 2), nn.ReLU()))
                inputs = outputs
            for block in range(blocks):
                stride = 2 if number and not block else 1
                made.append(Bottleneck(inputs, outputs, expansion, kernel, stride))
                inputs = outputs
            stages.append(nn.Sequential(*made))
        self.stages = nn.ModuleList(stages)
        widths = [stage[0] for stage in STAGES]
        self.overview = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(widths[-1], WIDTH, 1), nn.ReLU())
        self.top = nn.Sequential(_convolution(widths[-1], WIDTH), nn.ReLU())
        self.sides = nn.ModuleList([_convolution(width, WIDTH) for width in widths[3:0:-1]])
        self.mixes = nn.ModuleList([Separable(WIDTH, WIDTH) for _ in range(3)])
        self.fine_side = _convolution(widths[0], FINE)
        self.narrow = _convolution(WIDTH, FINE)
        self.looks = Separable(FINE, FINE)
        self.kinds = nn.Conv2d(FINE, 1 + classes, 1)
        self.colors = nn.Sequential(nn.Conv2d(FINE + 3, FINE, 1), nn.ReLU(), nn.Conv2d(FINE, colors, 1))
        self.places = nn.Sequential(Separable(FINE, FINE // 2), nn.Conv2d(FINE // 2, 3, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return logits of classes (B, 1 + classes, h, w), centres (B, 1, h, w), offsets (B, 2, h, w) in OFFSET_UNIT,
        and logits of colours (B, colors, h, w).
        """
        small = functional.avg_pool2d(x, 2)
        kept = []
        for stage in self.stages:
            x = stage(x)
            kept.append(x)
        y = self.top(kept[4]) + self.overview(kept[4])
        for side, mix, below in zip(self.sides, self.mixes, kept[3:0:-1]):
            y = mix(functional.relu(_larger(y, below) + side(below)))
        y = functional.relu(_larger(self.narrow(y), kept[0]) + self.fine_side(kept[0]))
        places = self.places(y)
        looks = self.looks(y)
        return self.kinds(looks), places[:, :1], places[:, 1:], self.colors(torch.cat([looks, small], 1))


def _larger(x: Tensor, like: Tensor) -> Tensor:
    return functional.interpolate(x, size=like.shape[2:], mode="bilinear", align_corners=False)


class Exported(nn.Module):
    """The network with the outputs that the robot's decoder reads: probabilities, centres in 0..1, offsets in
    pixels.
    """

    def __init__(self, network: Segmenter) -> None:
        super().__init__()
        self.network = network

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return probabilities, centres, offsets and colours of an image (1, 3, H, W) in 0..1."""
        kinds, center, offset, colors = self.network(image)
        return torch.softmax(kinds, 1), center.clamp(0.0, 1.0), offset * OFFSET_UNIT, torch.softmax(colors, 1)
