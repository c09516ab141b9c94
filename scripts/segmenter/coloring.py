"""Retrain the colour head of an exported network; all other weights in its file are kept.

Features are computed by ONNX Runtime, so a processor needs only minutes for thousands of images. Images are not
augmented, because names of colours change with the light.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional

from lodestar_sim.dataset.coco import CocoError
from segmenter.data import IGNORED, Images

_PER_THING = 48  # most pixels per object, so that large objects do not outweigh small ones
_LEAST = 15  # least pixels of an object, at half the image's size
_STEPS, _SIZE, _RATE = 1500, 2048, 4e-3
_LAYERS = ("network.colors.0", "network.colors.2")


def fit_colors(start: Path, images: Images, path: Path, about: dict[str, str], seed: int = 0) -> float:
    """Write the network `start` with a new colour head to `path`; return its accuracy on the training pixels.

    about: further values for its metadata. Raises CocoError for a network without a colour head, and for
    images in which no object has a colour.
    """
    model = onnx.load(str(start))
    arrays = {one.name: one for one in model.graph.initializer}
    user = {name: node for node in model.graph.node for name in node.input}
    if any(f"{layer}.{part}" not in arrays for layer in _LAYERS for part in ("weight", "bias")):
        raise CocoError(f"{start} has no head for colours that could be fitted")
    x, y = _pixels(model, user[f"{_LAYERS[0]}.weight"].input[0], images, np.random.default_rng(seed))
    torch.manual_seed(seed)
    hidden, _, _, _ = arrays[f"{_LAYERS[0]}.weight"].dims
    colors = arrays[f"{_LAYERS[1]}.weight"].dims[0]
    head = _fitted(torch.from_numpy(x), torch.from_numpy(y), hidden, colors)
    for name, layer in zip(_LAYERS, (head[0], head[2])):
        for part, values in (("weight", layer.weight[:, :, None, None]), ("bias", layer.bias)):
            made = numpy_helper.from_array(values.detach().numpy().copy(), f"{name}.{part}")
            arrays[f"{name}.{part}"].CopyFrom(made)
    onnx.helper.set_model_props(model, {one.key: one.value for one in model.metadata_props} | about)
    onnx.save(model, str(path))
    with torch.no_grad():
        return float((head(torch.from_numpy(x)).argmax(1).numpy() == y).mean())


def _pixels(
    model: onnx.ModelProto, tap: str, images: Images, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return F features (N, F) float32 and colours (N,) int64 of N pixels that the network classifies as an
    object. tap: name of the network's tensor with the features.
    """
    tapped = onnx.ModelProto()
    tapped.CopyFrom(model)
    tapped.graph.output.append(onnx.helper.make_tensor_value_info(tap, onnx.TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        tapped.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    features, colors = [], []
    for rgb, things, told in zip(images.rgb, images.things, images.colors):
        given = (rgb.astype(np.float32) / 255.0).transpose(2, 0, 1)[None]
        kinds, found = session.run(["kinds", tap], {"image": given})
        numbers = np.where(kinds[0, 0] < 0.5, things[::2, ::2], 0)
        for number in np.unique(numbers[numbers > 0]):
            rows, columns = np.nonzero(numbers == number)
            if len(rows) >= _LEAST and told[number] != IGNORED:
                which = rng.choice(len(rows), min(len(rows), _PER_THING), replace=False)
                features.append(found[0][:, rows[which], columns[which]].T)
                colors.append(np.full(len(which), told[number], np.int64))
    if not features:
        raise CocoError("no thing in the images has a colour in its caption")
    return np.concatenate(features), np.concatenate(colors)


def _fitted(x: torch.Tensor, y: torch.Tensor, hidden: int, colors: int) -> nn.Sequential:
    """Return a colour head trained on features x (N, F) and colours y (N,), with the normalisation of the
    features built in.
    """
    mean, deviation = x.mean(0), x.std(0) + 1e-3
    head = nn.Sequential(nn.Linear(x.shape[1], hidden), nn.ReLU(), nn.Linear(hidden, colors))
    optimizer = torch.optim.AdamW(head.parameters(), _RATE, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, _STEPS)
    for _ in range(_STEPS):
        which = torch.randint(len(x), (_SIZE,))
        loss = functional.cross_entropy(head((x[which] - mean) / deviation), y[which])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        head[0].weight.div_(deviation)
        head[0].bias.sub_(head[0].weight @ mean)
    return head
