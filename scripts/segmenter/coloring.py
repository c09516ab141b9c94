"""Fit the head for colours alone to a network that stays as it is, from samples of its features."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from segmenter.batches import Batches
from segmenter.data import IGNORED
from segmenter.network import Segmenter

_PER_BATCH = 4000  # sampled pixels, small things as often as large ones
_STEPS, _SIZE, _RATE = 400, 2048, 5e-3


def fit_colors(network: Segmenter, batches: Batches, count: int) -> float:
    """Fit `network.colors` to pixels of things in `count` batches; return the share that it then names right."""
    given: list[Tensor] = []
    hook = network.colors.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0]))
    network.eval()
    features, colors = [], []
    with torch.no_grad():
        for _ in range(count):
            batch = batches.draw()
            network(batch.image)
            there = (batch.colors != IGNORED) & (batch.weight > 0)
            chosen = torch.multinomial(batch.weight[there], min(_PER_BATCH, int(there.sum())))
            features.append(given.pop().permute(0, 2, 3, 1)[there][chosen])
            colors.append(batch.colors[there][chosen])
    hook.remove()
    x, y = torch.cat(features), torch.cat(colors)
    with torch.enable_grad():
        _fit(network.colors, x, y)
    with torch.no_grad():
        return float((network.colors(x[:, :, None, None])[:, :, 0, 0].argmax(1) == y).float().mean())


def _fit(head: nn.Module, x: Tensor, y: Tensor) -> None:
    optimizer = torch.optim.AdamW(head.parameters(), _RATE, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, _STEPS)
    for _ in range(_STEPS):
        which = torch.randint(len(x), (_SIZE,), device=x.device)
        loss = functional.cross_entropy(head(x[which][:, :, None, None])[:, :, 0, 0], y[which])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
