"""Build and installation of `lodestar_go2`."""

from setuptools import find_packages, setup

PACKAGE = "lodestar_go2"
REQUIRES = ["lodestar", "lodestar_ros", "numpy>=1.23"]

setup(
    name=PACKAGE,
    version="0.1.0",
    description="The base of a Unitree Go2",
    maintainer="Lodestar maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-f610357a.example",
    license="Apache-2.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["**/*.json", "**/*.yaml", "**/*.md", "**/*.txt"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/urdf", ["urdf/go2.urdf", "urdf/go2.urdf.xacro"]),
    ],
    python_requires=">=3.10",
    zip_safe=False,
    install_requires=REQUIRES,
    entry_points={
        "console_scripts": [
            f"{name} = {PACKAGE}.nodes.{name}_node:main"
            for name in ("go2_base", "go2_guard", "go2_lidar", "cloud_scan")
        ]
    },
)
