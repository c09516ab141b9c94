"""Build and installation of `lodestar_ros`."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "lodestar_ros"
REQUIRES = [
    "lodestar", "numpy>=1.23", "opencv-python-headless>=4.8", "pyyaml>=6.0", "rosbags>=0.11.7",
    "rosbags-image>=0.10.4",
]  # fmt: skip
NODES = sorted(
    path.name.removesuffix("_node.py") for path in Path(__file__).parent.glob(f"{PACKAGE}/nodes/*_node.py")
)

setup(
    name=PACKAGE,
    version="0.1.0",
    description="The nodes of Lodestar",
    maintainer="Lodestar maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-f610357a.example",
    license="Apache-2.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["**/*.json", "**/*.yaml", "**/*.md", "**/*.txt"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    python_requires=">=3.10",
    zip_safe=False,
    install_requires=REQUIRES,
    entry_points={"console_scripts": [f"{name} = {PACKAGE}.nodes.{name}_node:main" for name in NODES]},
)
