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
COMPRESSED = ("compressed", "compressedDepth")  # last part of the names of such topics


@dataclass(frozen=True)
class TransportConfig:
    """Form in which the images come. Another than raw is heard on the topic of that name below the image's own."""

    color: str = "raw"  # of `image`: raw or compressed (JPEG, PNG); image_transport's names
    depth: str = "raw"  # of `depth`: raw, compressedDepth or compressed (16-bit PNG)

    def __post_init__(self) -> None:
        for name, known in (("color", COLOR_TRANSPORTS), ("depth", DEPTH_TRANSPORTS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it is one of {', '.join(known)}")

    def of(self, name: str) -> str:
        """Return the form of an input's images: "" where they are raw, else the last part of their topic's name."""
        form = {"image": self.color, "depth": self.depth}.get(name, "raw")
        return "" if form == "raw" else form


@dataclass(frozen=True)
class VisionConfig:
    """Limits of a vision model that describes objects."""

    # a person's limit per day (UTC) besides `endpoint.day`, of all that is counted there; 0 = none; chosen
    per_day: int = 2_000
    per_minute: float = 60.0  # questions; 0 = as they come; chosen
    parallel: int = 4  # questions at once; chosen
    # pixels of a crop's longer side; the shorter is at least a quarter of it; chosen
    side: int = 384
    quality: int = 85  # of the crop's JPEG, 1 to 100; chosen
    chat: VisionChatConfig = field(
        default_factory=lambda: VisionChatConfig(max_tokens=120, spending=SpendingConfig(tokens=0))
    )  # of the endpoint

    def __post_init__(self) -> None:
        if self.side < 32 or not 1 <= self.quality <= 100 or self.per_day < 0 or not 1 <= self.parallel <= 16:
            raise ValueError(
                "side must be at least 32 pixels, quality 1 to 100, per_day not negative, parallel 1 to 16"
            )


@dataclass(frozen=True)
class CaptionerConfig:
    """Choice of the captioner."""

    # a vision model, a template where it fails; without it the template: label, colour and size
    asks_model: bool = field(default=False, metadata={"shared": "vision_model"})
    vision: VisionConfig = field(default_factory=VisionConfig)


@dataclass(frozen=True)
class GeometricConfig:
    """Parameters of the segmentation. Those without a source were chosen on rendered depth images of rooms."""

    step: int = 2  # image pixels per working pixel; chosen
    near: float = 0.3  # metres of depth; chosen
    # metres of depth; chosen
    far: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})
    # Deviation of depth from the neighbours' plane that splits them: jump + jump_per_square * depth^2. The error of
    # a structured-light camera grows with the square of depth.
    jump: float = 0.02  # metres; chosen
    jump_per_square: float = 0.012  # metres per square metre; chosen
    reach: int = 4  # working pixels between the points of a normal; chosen
    crease: float = 0.12  # sine of the concave angle that splits two pieces; chosen: about 7 degrees
    plane_trials: int = 60  # planes tried per search; chosen
    planes: int = 5  # most planes of the room; chosen
    # share of all points that a plane of the room must hold; chosen
    plane_share: float = 0.08
    # Distance from a plane of points that belong to it: plane_gap + plane_gap_per_square * depth^2.
    plane_gap: float = 0.03  # metres; chosen
    plane_gap_per_square: float = 0.008  # metres per square metre; chosen
    behind: float = 0.03  # share of the points that may lie behind a plane of the room; chosen
    min_pixels: int = 600  # of a segment in the full image; chosen: about 24 x 24 pixels
    max_share: float = 0.5  # largest share of the image that a segment covers; chosen
    score: float = 0.5  # of every segment, 0..1; chosen


@dataclass(frozen=True)
class NoiseConfig:
    """Errors per mask and frame. The defaults are an error-free detector."""

    # name of a detector whose measured errors take the place of those from `miss` to `erode_px` and of the scores, such
    # as nanodet (`perception/measured/`); "" = none
    measured: str = ""
    miss: float = 0.0  # probability that a mask is not detected
    split: float = 0.0  # probability that a mask is split in two
    merge: float = 0.0  # probability that a mask merges with a neighbour
    wrong_label: float = 0.0  # probability of another entry's label and caption
    erode_px: int = 0  # pixels removed from every edge
    merge_gap_px: int = 2  # pixels between masks that may merge; chosen
    score_mean: float = 0.85  # of the confidence, 0..1; chosen
    score_std: float = 0.0  # of the confidence
    min_pixels: int = 60  # smaller masks are not detected; chosen: that of `SegmentFilter`
    # share of a box's outline on the image border above which it is dropped; 1 = never
    max_border_share: float = 1.0

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
    # Jump of depth between neighbouring pixels that splits a component: jump + jump_per_metre * depth. A surface seen
    # at 10 degrees changes by about 0.01 per metre of depth between two pixels of a camera of 500 pixels focal length.
    jump: float = 0.1  # metres; chosen
    jump_per_metre: float = 0.02  # metres per metre of depth; chosen
    min_pixels: int = 60  # smaller components are dropped; chosen: that of `SegmentFilter`

    def __post_init__(self) -> None:
        if self.by not in SPLITS:
            raise ValueError(f"components.by is {self.by!r}; it is one of {', '.join(SPLITS)}")
        if self.jump < 0.0 or self.jump_per_metre < 0.0 or self.min_pixels < 1:
            raise ValueError("components.jump and jump_per_metre must not be negative, min_pixels at least 1")


@dataclass(frozen=True)
class WordsConfig:
    """The words that a detector which takes any text always looks for, beside those of the directive."""

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
    image_size: int = (
        640  # pixels of both sides, of a network whose input has no fixed size; Ultralytics' default
    )
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
    """Masks of things that a detector gives boxes of, from depth.

    Those without a source were chosen on rendered views of the apartments and offices 41 and 42 and the warehouse 41.
    """

    enabled: bool = True  # without it, or without depth, boxes are used as masks
    cells: int = 48  # of the longer side of a box: pixels that are looked at; chosen
    # share of the box's sides by which a thing may stick out of it; chosen: boxes are wrong by about 10 percent
    grow: float = 0.25
    ring: float = (
        0.25  # share of the box's sides that the planes around it are searched in, beyond that; chosen
    )
    near: float = 0.3  # metres of depth; chosen
    far: float = (
        8.0  # metres of depth, above which it is taken for unknown; chosen: walls behind things count
    )
    planes: int = 4  # most planes around a box; chosen
    plane_trials: int = 60  # planes tried for each; chosen
    plane_share: float = 0.12  # share of the points around a box that a plane must hold; chosen
    # Distance from a plane of points that belong to it: plane_gap + plane_gap_per_square * depth^2.
    plane_gap: float = 0.02  # metres; chosen
    plane_gap_per_square: float = 0.004  # metres per square metre; chosen
    # Jump of depth that splits two pieces: jump + jump_per_metre * depth.
    jump: float = 0.03  # metres; chosen
    jump_per_metre: float = 0.015  # metres per metre; chosen
    main_share: float = 0.3  # share of a piece in the box below which it hardly is the thing; chosen
    piece_share: float = 0.5  # share of a further piece in the box from which it belongs to the thing; chosen
    # depth by which a thing's pieces differ from the main one, in sizes of its box; chosen
    reach: float = 0.8
    least_reach: float = 0.15  # metres of the same; chosen
    # share of a box that its mask must fill; below it the box is the mask, as of a picture on a wall; chosen
    least_share: float = 0.25

    def __post_init__(self) -> None:
        if not 8 <= self.cells <= 256 or self.planes < 1 or self.plane_trials < 1:
            raise ValueError("boxes.cells must be 8 to 256, planes and plane_trials at least 1")
        if min(self.grow, self.ring, self.plane_gap, self.jump) < 0.0 or not 0.0 < self.near < self.far:
            raise ValueError(
                "boxes.grow, ring, plane_gap and jump must not be negative, near must be above 0, far above near"
            )


@dataclass(frozen=True)
class HistogramConfig:
    """Parameters of the histogram of colours and edges."""

    texture: float = 0.25  # share of the edges in the vector, 0..1; chosen
    # gradient (sum of Sobel's weights, of 8-bit values) at which a pixel counts half as an edge; chosen
    edge: float = 60.0

    def __post_init__(self) -> None:
        if not (0.0 <= self.texture <= 1.0 and self.edge > 0.0):
            raise ValueError("appearance.histogram.texture must be 0 to 1, edge above 0")


@dataclass(frozen=True)
class EncoderConfig:
    """An image encoder in an ONNX file, of the form of CLIP, SigLIP or DINO; the defaults are CLIP's and DINO's."""

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
    histogram: HistogramConfig = field(default_factory=HistogramConfig)
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
    """Reading of signs: who reads, how often, and which surfaces are worth it."""

    reader: str = "none"  # none; rapidocr: PP-OCR on the CPU (make setup EXTRAS=signs)
    period: float = 1.0  # s at least between two images that are read; chosen
    stands: float = 0.05  # m within which a camera stands; chosen
    stands_deg: float = 3.0  # within which it looks the same way; chosen
    rereads: int = 2  # images that are read of a camera that stands; chosen
    reach: float = (
        4.5  # m to the farthest surface that is read; chosen: EXIT in letters of 150 mm is read to 4 m
    )
    tilt_deg: float = 60.0  # most between a surface's normal and the line of sight; chosen
    contrast: int = 40  # grey levels between ink and plate within three pixels; chosen
    areas: int = 6  # that are read of one image, the likeliest first; chosen: about 35 ms each
    score: float = 0.6  # least score of a line, 0 to 1; chosen
    side: int = 480  # pixels, longest side of what the detector of text is given

    def __post_init__(self) -> None:
        if self.reader not in SIGN_READERS:
            raise ValueError(f"signs.reader is {self.reader!r}; it is one of {', '.join(SIGN_READERS)}")
        if self.period <= 0.0 or self.areas < 1 or self.rereads < 1 or self.side < 64:
            raise ValueError("signs.period must be above 0, areas and rereads at least 1, side at least 64")


@dataclass(frozen=True)
class MoverConfig:
    """People and animals: what is detected of them is tracked and stays out of the map."""

    # nouns of what moves by itself, with all that the lexicon counts among them; chosen: what detectors call them
    kinds: tuple[str, ...] = (
        "person", "kid", "baby", "toddler", "lady", "guy", "gentleman", "adult", "nurse", "visitor", "crowd",
        "animal", "bird", "horse", "sheep", "cow", "bear", "elephant", "zebra", "giraffe",
    )  # fmt: skip
    min_score: float = 0.3  # of a detection that is placed, 0..1; chosen
    min_points: int = 12  # valid depths of its mask; chosen, as VoxelConfig.min_points
    far: float = field(default=DEPTH_RANGE, metadata={"shared": "depth_range"})  # m of depth
    # m of rms error of a flat surface, and 1/m times the square of the depth: a mask within them is a picture; chosen
    flat: tuple[float, float] = (0.03, 0.006)
    noise: float = 0.15  # m, standard deviation of a place in plan; chosen: a step, and what the mask lacks
    acceleration: float = (
        2.0  # m/s^2, standard deviation of the constant-velocity model; chosen: a person who turns
    )
    fastest: float = 2.5  # m/s, of a track; chosen: people indoors walk
    # squared Mahalanobis distance of a sight that may be a track's: 99 percent of chi2 with 2 degrees of freedom
    gate: float = 9.21
    confirm: int = 2  # sights after which a track counts; chosen: one false detection is nobody
    life: float = 5.0  # s without a sight after which a track ends; chosen: the time of a turn to look again
    misses: int = 3  # clear views of its place without it after which a track ends; chosen
    most: int = 64  # tracks at once, those of the best score; chosen: a crowd

    def __post_init__(self) -> None:
        if not self.kinds or min(self.noise, self.acceleration, self.fastest, self.gate, self.life) <= 0.0:
            raise ValueError("movers needs kinds, and noise, acceleration, fastest, gate and life above 0")
        if min(self.confirm, self.misses, self.most, self.min_points) < 1:
            raise ValueError("movers.confirm, misses, most and min_points must be at least 1")
