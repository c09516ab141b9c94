"""Sessions of ONNX Runtime with the configured provider."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lodestar.perception.config import EncoderConfig, OnnxConfig
from lodestar.perception.frames import DetectorUnavailable

PROVIDERS = {
    "cpu": ("CPUExecutionProvider",),
    "cuda": ("CUDAExecutionProvider", "CPUExecutionProvider"),
    "tensorrt": ("TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"),
}


def open_session(path: Path, config: OnnxConfig | EncoderConfig) -> Any:
    """Return a session with the configured provider; never falls back to another one. Raises DetectorUnavailable."""
    import onnxruntime

    wanted = PROVIDERS[config.provider]
    if wanted[0] not in onnxruntime.get_available_providers():
        raise DetectorUnavailable(
            f"this ONNX Runtime has no {wanted[0]}: install onnxruntime-gpu in place of onnxruntime, "
            "or set onnx.provider to cpu"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = config.threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors are raised, so they need no log
    # waiting threads do not occupy a core
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    cache = {"trt_engine_cache_enable": True, "trt_engine_cache_path": str(path.with_suffix(".tensorrt"))}
    providers = [(name, cache) if name.startswith("Tensorrt") else name for name in wanted]
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=providers)
    except Exception as error:  # exceptions of ONNX Runtime have no other common class
        raise DetectorUnavailable(f"{path} cannot be loaded: {first_line(error)}") from error
    if session.get_providers()[0] != wanted[0]:
        raise DetectorUnavailable(
            f"{wanted[0]} does not start on this machine, only {session.get_providers()[0]}: "
            "check its libraries, or set onnx.provider to cpu"
        )
    return session


def first_line(error: Exception) -> str:
    """Return the first line of an error's message; messages of ONNX Runtime have many lines."""
    return str(error).strip().split("\n")[0]
