"""Build and installation of `lodestar_ros`."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "lodestar_ros"
NODES = sorted(
    path.name.removesuffix("_node.py") for path in Path(__file__).parent.glob(f"{PACKAGE}/nodes/*_node.py")
)

setup(
    name=PACKAGE,
    version="0.1.0",
    description="The nodes of Lodestar",
    maintainer="Lodestar maintainers",
    maintainer_email="maintainers@lodestar.example.org",
    license="Apache-2.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["**/*.json", "**/*.yaml", "**/*.md", "**/*.txt"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    python_requires=">=3.10",
    zip_safe=False,
    install_requires=["lodestar"],
    entry_points={"console_scripts": [f"{name} = {PACKAGE}.nodes.{name}_node:main" for name in NODES]},
)
