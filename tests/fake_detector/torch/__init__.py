"""Stand-in for as much of torch as the stand-in for Ultralytics needs."""

from ultralytics import Tensor as _Tensor

from_numpy = _Tensor
