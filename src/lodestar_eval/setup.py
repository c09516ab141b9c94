"""Build and installation of `lodestar_eval`."""

from setuptools import find_packages, setup

PACKAGE = "lodestar_eval"
REQUIRES = [
    "lodestar", "lodestar_ros", "lodestar_sim", "lodestar_console", "lodestar_bringup", "matplotlib>=3.7",
    "numba>=0.58", "numpy>=1.23", "open3d-cpu>=0.19; platform_machine == 'x86_64'",
    "open3d>=0.18; platform_machine != 'x86_64'", "opencv-python-headless>=4.8", "pillow>=9.4", "psutil>=5.9",
    "pyyaml>=6.0", "rosbags>=0.11.7", "scipy>=1.10", "websockets>=12",
]  # fmt: skip

setup(
    name=PACKAGE,
    version="0.1.0",
    description="Episodes, benchmarks and the demo of Lodestar",
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
    extras_require={"console": ["mcp>=2"], "memory": ["pymilvus>=3.0", "milvus-lite>=3.2.1"]},
)
