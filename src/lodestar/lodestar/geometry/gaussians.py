"""Distances between 3D Gaussians."""

from __future__ import annotations

import numpy as np


def hellinger_distance(
    mean: np.ndarray, covariance: np.ndarray, means: np.ndarray, covariances: np.ndarray
) -> np.ndarray:
    """Return the Hellinger distances (N,), in [0, 1], of one Gaussian to N Gaussians.

    mean: (3,), covariance: (3, 3); means: (N, 3), covariances: (N, 3, 3). A variance of one square millimetre
    is added on every axis, so that flat objects have a volume.
    """
    floor = np.eye(3) * 1e-6
    first = covariance + floor
    others = covariances + floor
    middle = 0.5 * (first + others)
    offset = means - mean
    quadratic = np.einsum("ni,ni->n", offset, np.linalg.solve(middle, offset[..., None])[..., 0])
    log_first = np.linalg.slogdet(first)[1]
    log_others = np.linalg.slogdet(others)[1]
    log_middle = np.linalg.slogdet(middle)[1]
    coefficient = np.exp(0.25 * (log_first + log_others) - 0.5 * log_middle - 0.125 * quadratic)
    return np.sqrt(np.clip(1.0 - coefficient, 0.0, 1.0))
