"""Build and installation of `lodestar_bringup`."""

import os
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "lodestar_bringup"
REQUIRES = [
    "lodestar", "lodestar_ros", "lodestar_sim", "lodestar_go2", "lodestar_console", "numba>=0.58", "psutil>=5.9",
    "pyyaml>=6.0",
]  # fmt: skip
HERE = Path(__file__).absolute().parent
# colcon --symlink-install runs a linked copy of this file from build/; the link leads back to the checkout.
CHECKOUT = Path(__file__).resolve().parents[2]


def shared_folder(name: str) -> list[tuple[str, list[str]]]:
    """Return the data_files entries that install `<checkout>/<name>/**` into this package's share."""
    entries: dict[str, list[str]] = {}
    for path in sorted((CHECKOUT / name).rglob("*")):
        if path.is_file() and path.suffix in (".py", ".yaml", ".xml", ".rviz", ".bt"):
            target = Path("share") / PACKAGE / name / path.relative_to(CHECKOUT / name).parent
            entries.setdefault(str(target), []).append(os.path.relpath(path, HERE))
    return list(entries.items())


setup(
    name=PACKAGE,
    version="0.1.0",
    description="Launch files, profiles and the starter of Lodestar",
    maintainer="Lodestar maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-f610357a.example",
    license="Apache-2.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["**/*.json", "**/*.yaml", "**/*.md", "**/*.txt"]},
    python_requires=">=3.10",
    zip_safe=False,
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *shared_folder("launch"),
        *shared_folder("config"),
    ],
    install_requires=REQUIRES,
)
