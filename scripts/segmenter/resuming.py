"""Continue training of an exported network, whose file holds each convolution with its normalisation folded into it."""

from __future__ import annotations

import ast
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from lodestar_sim.dataset.coco import CocoError
from segmenter.batches import Batches
from segmenter.network import Segmenter

_BATCHES = 4  # batches from which the statistics of the normalisations are computed


def exported_names(path: Path) -> tuple[str, ...]:
    """Return the classes of an exported network, in order. Raises CocoError."""
    try:
        told = {one.key: one.value for one in onnx.load(str(path)).metadata_props}
        table = ast.literal_eval(told["names"])
        return tuple(table[number] for number in range(len(table)))
    except Exception as error:  # onnx raises errors without a common class
        raise CocoError(f"{path} is no network of this training: {error}") from error


def resume(network: Segmenter, path: Path, batches: Batches) -> None:
    """Copy the weights of an exported network into `network`; layers that the file lacks are unchanged.
    Raises CocoError.
    """
    graph = onnx.load(str(path)).graph
    arrays = {one.name: torch.from_numpy(numpy_helper.to_array(one).copy()) for one in graph.initializer}
    folded = [
        node for node in graph.node if node.op_type == "Conv" and not node.input[1].startswith("network.")
    ]
    layers = _normalised(network, batches)
    if [tuple(arrays[node.input[1]].shape) for node in folded] != [tuple(c.weight.shape) for c, _ in layers]:
        raise CocoError(f"{path} is a network of another form")
    with torch.no_grad():
        for (convolution, norm), node in zip(layers, folded):
            convolution.weight.copy_(arrays[node.input[1]])
            norm.weight.fill_(1.0)
            norm.bias.copy_(arrays[node.input[2]])
            norm.running_mean.zero_()
            norm.running_var.fill_(1.0 - norm.eps)
        own = dict(network.named_parameters())
        for name, array in arrays.items():
            place = name.removeprefix("network.").replace("kinds.1.", "kinds.")
            if name.startswith("network.") and place in own:
                own[place].copy_(array)
        _normalise(network, layers, batches)


def _normalised(network: Segmenter, batches: Batches) -> list[tuple[nn.Conv2d, nn.BatchNorm2d]]:
    """Return the pairs of a convolution and the normalisation behind it, in the order in which they run."""
    after = {
        part[0]: part[1]
        for part in network.modules()
        if isinstance(part, nn.Sequential) and len(part) == 2 and isinstance(part[1], nn.BatchNorm2d)
    }
    order: list[nn.Conv2d] = []
    hooks = [one.register_forward_hook(lambda module, _, __: order.append(module)) for one in after]
    network.eval()
    with torch.no_grad():
        network(batches.draw().image[:1])
    for hook in hooks:
        hook.remove()
    return [(one, after[one]) for one in order]


def _normalise(network: Segmenter, layers: list[tuple[nn.Conv2d, nn.BatchNorm2d]], batches: Batches) -> None:
    """Set the normalisations to the statistics of their inputs, without changing the network's outputs."""
    sums: dict[nn.Module, list[Tensor]] = {}

    def watch(module: nn.Module, _: object, output: Tensor) -> None:
        flat = output.float().transpose(0, 1).flatten(1)
        sums.setdefault(module, []).append(torch.stack([flat.mean(1), flat.square().mean(1)]))

    hooks = [convolution.register_forward_hook(watch) for convolution, _ in layers]
    for _ in range(_BATCHES):
        network(batches.draw().image)
    for hook in hooks:
        hook.remove()
    for convolution, norm in layers:
        mean, square = torch.stack(sums[convolution]).mean(0)
        variance = (square - mean**2).clamp(min=1e-6)
        norm.bias += mean
        norm.weight.copy_((variance + norm.eps).sqrt())
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)
    network.train()
