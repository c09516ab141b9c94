"""Configuration of detectors and captioners."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar.geometry.camera import DEPTH_RANGE
from lodestar.models.config import SpendingConfig, VisionChatConfig

DESCRIBERS = ("none", "histogram", "encoder")
SPLITS = ("none", "depth", "instances")
COLOR_TRANSPORTS = ("raw", "compressed")
DEPTH_TRANSPORTS = ("raw", "compressedDepth", "compressed")
SIGN_READERS = ("none", "rapidocr")
ONNX_PROVIDERS = ("cpu", "cuda", "tensorrt")
COMPRESSED = ("compressed", "compressedDepth")  # last part of the topic names of compressed images


@dataclass(frozen=True)
class TransportConfig:
    """Transport of the input images, by the names of image_transport. Images of a transport other than raw
    come on the topic IMAGE_TOPIC/TRANSPORT.
    """

    color: str = "raw"  # of `image`: raw or compressed (JPEG, PNG); image_transport's names
    depth: str = "raw"  # of `depth`: raw, compressedDepth or compressed (16-bit PNG)

    def __post_init__(self) -> None:
        for name, known in (("color", COLOR_TRANSPORTS), ("depth", DEPTH_TRANSPORTS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it is one of {', '.join(known)}")

    def of(self, name: str) -> str:
        """Return the transport of an input's images: "" for raw, else the last part of their topic's name."""
        form = {"image": self.color, "depth": self.depth}.get(name, "raw")
        return "" if form == "raw" else form


@dataclass(frozen=True)
class VisionConfig:
    """Limits of the requests to a vision model that describes objects."""

    # most requests per user and day (UTC) beside the limit of `endpoint.day`; 0 = none; chosen
    per_day: int = 2_000
    per_minute: float = 60.0  # requests; 0 = no limit; chosen
    parallel: int = 4  # requests at once; chosen
    chat: VisionChatConfig = field(
        default_factory=lambda: VisionChatConfig(max_tokens=120, spending=SpendingConfig(tokens=0))
    )  # of the endpoint

    def __post_init__(self) -> None:
        if self.per_day < 0 or not 1 <= self.parallel <= 16:
            raise ValueError("per_day must not be negative, parallel 1 to 16")


@dataclass(frozen=True)
class CaptionerConfig:
    """Choice of the captioner."""

    # True: a vision model, and the template if it fails; False: the template (label, colour and size)
    asks_model: bool = field(default=False, metadata={"shared": "vision_model"})
    vision: VisionConfig = field(default_factory=VisionConfig)


@dataclass(frozen=True)
class GeometricConfig:
    """Limits of the depth and size of the segments found in depth images without a detector."""

    # metres of depth; chosen on rendered depth images of rooms
    far: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})
    min_pixels: int = 600  # least pixels of a segment in the full image; chosen: about 24 x 24 pixels


@dataclass(frozen=True)
class NoiseConfig:
    """Simulated errors of the ground-truth detector, per mask and frame. The defaults are an error-free
    detector.
    """

    # name of a detector whose measured errors take the place of those from `miss` to `erode_px` and of the scores, such
    # as nanodet (`perception/measured/`); "" = none
    measured: str = ""
    miss: float = 0.0  # probability that a mask is not detected
    split: float = 0.0  # probability that a mask is split in two
    merge: float = 0.0  # probability that a mask merges with a neighbour
    wrong_label: float = 0.0  # probability of another entry's label and caption
    erode_px: int = 0  # pixels removed from every edge
    score_std: float = 0.0  # of the confidence
    min_pixels: int = 60  # smaller masks are not detected; chosen: that of `SegmentFilter`

    def __post_init__(self) -> None:
        if self.measured:
            from lodestar.perception.measured_noise import measured_noise

            measured_noise(self.measured)  # raises ValueError


@dataclass(frozen=True)
class ComponentsConfig:
    """Splitting of a simulator's labels into objects, for label images that have one value per class."""

    # none: each value is an object; depth: connected components without a jump of depth; instances: a second image has
    # a value per object
    by: str = "none"
    # metres, jump of depth between neighbouring pixels that splits a component, to which a share of the depth is added
    # (COMPONENTS_JUMP_PER_METRE); chosen
    jump: float = 0.1
    min_pixels: int = 60  # smaller components are dropped; chosen: that of `SegmentFilter`

    def __post_init__(self) -> None:
        if self.by not in SPLITS:
            raise ValueError(f"components.by is {self.by!r}; it is one of {', '.join(SPLITS)}")
        if self.jump < 0.0 or self.min_pixels < 1:
            raise ValueError("components.jump must not be negative, min_pixels at least 1")


@dataclass(frozen=True)
class WordsConfig:
    """Words that an open-vocabulary detector always searches for, beside those of the directive."""

    file: str = ""  # one a line; "" = the packaged list of about 250 indoor things
    limit: int = 400  # phrases at once, the directive's first; chosen: each costs a detector time per frame

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= 2000:
            raise ValueError(f"words.limit is {self.limit}; it lies between 1 and 2000")


@dataclass(frozen=True)
class UltralyticsConfig:
    """Settings of an Ultralytics model."""

    confidence: float = 0.25  # threshold, 0..1; Ultralytics' default
    # threshold of non-maximum suppression, 0..1; chosen: below Ultralytics' 0.7, fewer duplicates
    iou: float = 0.6
    image_size: int = 640  # pixels of the longer side; Ultralytics' default
    device: str = ""  # as Ultralytics names it; "" = its choice
    max_detections: int = 100  # per image; chosen
    min_pixels: int = 60  # smaller masks are dropped; chosen: that of `SegmentFilter`


@dataclass(frozen=True)
class OnnxConfig:
    """Settings of a network that ONNX Runtime runs."""

    # cpu, cuda or tensorrt; the latter two need the package onnxruntime-gpu in place of onnxruntime
    provider: str = "cpu"
    threads: int = 1  # of the CPU's provider; chosen: as the other libraries of a node
    confidence: float = 0.4  # threshold, 0..1; NanoDet's demo
    iou: float = 0.5  # threshold of non-maximum suppression within a class, 0..1; NanoDet's demo
    # pixels of both sides, of a network whose input has no fixed size; Ultralytics' default
    image_size: int = 640
    max_detections: int = 100  # per image; chosen
    min_pixels: int = 60  # smaller masks are dropped; chosen: that of `SegmentFilter`

    def __post_init__(self) -> None:
        if self.provider not in ONNX_PROVIDERS:
            raise ValueError(f"onnx.provider is {self.provider!r}; it is one of {', '.join(ONNX_PROVIDERS)}")
        if self.threads < 1 or self.image_size < 32 or self.max_detections < 1:
            raise ValueError(
                "onnx.threads and max_detections must be at least 1, image_size at least 32 pixels"
            )
        if not (0.0 < self.confidence <= 1.0 and 0.0 < self.iou <= 1.0):
            raise ValueError("onnx.confidence and iou must be above 0 and at most 1")


@dataclass(frozen=True)
class BoxMaskConfig:
    """Switch for computing masks from depth for objects of which a detector gives only boxes."""

    enabled: bool = True  # without it, or without depth, boxes are used as masks


@dataclass(frozen=True)
class EncoderConfig:
    """Settings of an image encoder (CLIP, SigLIP or DINO) in an ONNX file; the defaults are mostly CLIP's."""

    model: str = ""  # path of the image encoder
    text_model: str = ""  # path of the text encoder of the same pair; empty = it has none, as DINO
    tokenizer: str = ""  # path of the text encoder's tokenizer.json
    provider: str = "cpu"  # cpu, cuda or tensorrt
    threads: int = 1  # of the CPU's provider; chosen: as the other libraries of a node
    image_size: int = 224  # pixels of both sides, of a network whose input has no fixed size
    mean: tuple[float, ...] = (0.48145466, 0.4578275, 0.40821073)  # of channels in [0, 1]; CLIP's
    std: tuple[float, ...] = (0.26862954, 0.26130258, 0.27577711)  # of channels in [0, 1]; CLIP's
    margin: float = 0.1  # share of a box's side by which its crop is larger on each side; chosen
    crops: int = 12  # per image, the largest masks first; chosen: bounds the time
    words: int = 64  # tokens that a text encoder of fixed length reads; SigLIP's

    def __post_init__(self) -> None:
        if self.provider not in ONNX_PROVIDERS:
            raise ValueError(
                f"encoder.provider is {self.provider!r}; it is one of {', '.join(ONNX_PROVIDERS)}"
            )
        if len(self.mean) != 3 or len(self.std) != 3 or not all(value > 0.0 for value in self.std):
            raise ValueError("encoder.mean and std are three numbers each, those of std above 0")
        if self.threads < 1 or self.image_size < 16 or self.crops < 1 or self.words < 1 or self.margin < 0.0:
            raise ValueError(
                "encoder.threads, crops and words must be at least 1, image_size at least 16, margin not negative"
            )
        if bool(self.text_model) != bool(self.tokenizer):
            raise ValueError("encoder.text_model and encoder.tokenizer belong together: give both or neither")


@dataclass(frozen=True)
class DescriberConfig:
    """Choice of the describer of segments' appearance."""

    # none; histogram: of colours and edges in the mask; encoder: a network for images
    by: str = "none"
    encoder: EncoderConfig = field(default_factory=EncoderConfig)

    def __post_init__(self) -> None:
        if self.by not in DESCRIBERS:
            raise ValueError(f"appearance.by is {self.by!r}; it is one of {', '.join(DESCRIBERS)}")
        if self.by == "encoder" and not self.encoder.model:
            raise ValueError(
                "appearance.by encoder needs appearance.encoder.model, the path of an .onnx file"
            )


@dataclass(frozen=True)
class SignConfig:
    """Choice of the reader of signs."""

    reader: str = "none"  # none; rapidocr: PP-OCR on the CPU (make setup EXTRAS=signs)

    def __post_init__(self) -> None:
        if self.reader not in SIGN_READERS:
            raise ValueError(f"signs.reader is {self.reader!r}; it is one of {', '.join(SIGN_READERS)}")


@dataclass(frozen=True)
class MoverConfig:
    """Detection of people and animals, which are tracked and kept out of the map."""

    # nouns, with all kinds that the lexicon lists below them; chosen: names that detectors use
    kinds: tuple[str, ...] = (
        "person", "kid", "baby", "toddler", "lady", "guy", "gentleman", "adult", "nurse", "visitor", "crowd",
        "animal", "bird", "horse", "sheep", "cow", "bear", "elephant", "zebra", "giraffe",
    )  # fmt: skip
    far: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})  # m of depth
    life: float = (
        5.0  # s without a sighting after which a track ends; chosen: the time of a turn to look again
    )
    most: int = 64  # tracks at once, those of the best score; chosen: a crowd

    def __post_init__(self) -> None:
        if not self.kinds or self.life <= 0.0 or self.most < 1:
            raise ValueError("movers needs kinds, life above 0 and most of at least 1")
