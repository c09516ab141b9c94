"""Train the network on images on a device, for a time or a number of steps."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from segmenter.batches import Batch, Batches, ChangeConfig, loss
from segmenter.data import COLORS, IGNORED, Images
from segmenter.network import Segmenter
from segmenter.resuming import resume


@dataclass(frozen=True)
class TrainConfig:
    """Parameters of a training: duration, batch size, learning rate, augmentation. All values are
    assumptions.
    """

    seconds: float = 7200.0  # of the whole schedule, without loading
    # 0 = as many as fit into `seconds`; else that many, and the same seed gives the same network
    steps: int = 0
    batch: int = 64  # images of a step
    rate: float = 3e-3  # largest learning rate of AdamW
    decay: float = 0.03  # weight decay
    warm: float = 0.03  # share of the schedule in which the rate rises
    average: float = 0.998  # of the moving average of the weights, which is exported
    seed: int = 0
    change: ChangeConfig = field(default_factory=ChangeConfig)


class Average:
    """Exponential moving average of a network's weights and batch-normalisation statistics."""

    def __init__(self, network: Segmenter, classes: int, share: float) -> None:
        self.network = Segmenter(classes, len(COLORS)).to(next(network.parameters()).device).eval()
        self.network.load_state_dict(network.state_dict())
        self._share, self._steps = share, 0

    @torch.no_grad()
    def follow(self, network: Segmenter) -> None:
        """Move the average towards the network's weights."""
        self._steps += 1
        share = min(self._share, self._steps / (self._steps + 10.0))
        mine, new = self.network.state_dict(), network.state_dict()
        floats = [name for name, value in mine.items() if value.is_floating_point()]
        torch._foreach_lerp_([mine[name] for name in floats], [new[name] for name in floats], 1.0 - share)


def class_weights(kinds: np.ndarray, classes: int) -> np.ndarray:
    """Return the weight (1 + classes,) float32 of each class, by the inverse root of its pixels; 1 for the
    median class.
    """
    count = np.bincount(kinds[:: max(len(kinds) // 4000, 1)].ravel(), minlength=256)[: 1 + classes] + 1.0
    weight = np.sqrt(np.median(count[1:]) / count).clip(0.3, 3.0)
    weight[0] = 0.3
    return weight.astype(np.float32)


def train(
    images: Images,
    classes: int,
    config: TrainConfig,
    device: torch.device,
    told: Callable[[str], None],
    start: Path | None = None,
) -> Segmenter:
    """Return the averaged network after a complete schedule: a warm-up and a cosine to zero.

    start: an exported network to continue from. Raises CocoError if its architecture differs.
    """
    torch.manual_seed(config.seed)
    torch.backends.cudnn.benchmark = True  # useful because all images have one size
    network = Segmenter(classes, len(COLORS)).to(device)
    batches = Batches(images, device, min(config.batch, len(images)), config.seed, config.change)
    if start is not None:
        resume(network, start, batches)
    average = Average(network, classes, config.average)
    of_class = torch.from_numpy(class_weights(images.kinds, classes)).to(device)
    plain = [p for p in network.parameters() if p.ndim < 2]
    decayed = [p for p in network.parameters() if p.ndim >= 2]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": config.decay}, {"params": plain, "weight_decay": 0.0}],
        config.rate,
        fused=device.type == "cuda",
    )
    layout = _fastest_layout(network, batches.draw(), of_class)
    network.to(memory_format=layout)
    told(f"layout {layout}")
    began, step, spoken = time.perf_counter(), 0, -math.inf
    while (
        done := step / config.steps if config.steps else (time.perf_counter() - began) / config.seconds
    ) < 1.0:
        for group in optimizer.param_groups:
            group["lr"] = config.rate * _schedule(done, config.warm)
        batch = batches.draw()
        outputs, total, parts = _forward(network, batch, of_class, layout)
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
        average.follow(network)
        step += 1
        now = time.perf_counter() - began
        if now - spoken > 10.0:  # rarely, because reading the loss waits for the device
            spoken = now
            speed = f"step {step}, {step * batches.size / now:.0f} images/s"
            told(f"{now:.0f} s, {speed}, {_line(total, parts, batch, outputs)}")
    seconds = time.perf_counter() - began
    told(
        f"{step} steps of {batches.size} images in {seconds:.0f} s: {step * batches.size / len(images):.1f} epochs"
    )
    return average.network


def _forward(network: Segmenter, batch: Batch, of_class: Tensor, layout: torch.memory_format):
    device = batch.image.device.type
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        outputs = network(batch.image.contiguous(memory_format=layout))
    return outputs, *loss(batch, outputs, of_class)


def _fastest_layout(network: Segmenter, batch: Batch, of_class: Tensor) -> torch.memory_format:
    """Return the memory format in which a GPU trains fastest, by a trial; channels_last on a CPU."""
    if batch.image.device.type != "cuda":
        return torch.channels_last
    seconds = {}
    for layout in (torch.contiguous_format, torch.channels_last):
        tried = copy.deepcopy(network).to(memory_format=layout)
        for number in range(12):
            if number == 4:
                torch.cuda.synchronize()
                began = time.perf_counter()
            _forward(tried, batch, of_class, layout)[1].backward()
        torch.cuda.synchronize()
        seconds[layout] = time.perf_counter() - began
    return min(seconds, key=lambda layout: seconds[layout])


def _line(total: Tensor, parts: dict[str, Tensor], batch: Batch, outputs: tuple[Tensor, ...]) -> str:
    right = (outputs[0].argmax(1) == batch.kinds)[(batch.kinds > 0) & (batch.kinds != IGNORED)].float().mean()
    told = ", ".join(f"{name} {value:.3f}" for name, value in parts.items())
    return f"loss {total:.3f} ({told}), right things' pixels {right:.3f}"


def _schedule(done: float, warm: float) -> float:
    if done < warm:
        return (done + 1e-3) / (warm + 1e-3)
    return max(0.5 * (1.0 + math.cos(math.pi * (done - warm) / (1.0 - warm))), 1e-3)
