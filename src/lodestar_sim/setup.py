"""Build and installation of `lodestar_sim`."""

from setuptools import find_packages, setup

PACKAGE = "lodestar_sim"
REQUIRES = [
    "lodestar", "lodestar_ros", "jsonschema>=4.17", "matplotlib>=3.7", "msgspec>=0.18", "numba>=0.58",
    "numpy>=1.23", "open3d-cpu>=0.19; platform_machine == 'x86_64'", "open3d>=0.18; platform_machine != 'x86_64'",
    "opencv-python-headless>=4.8", "pillow>=9.4", "pycollada>=0.8", "scikit-image>=0.20", "scipy>=1.10",
    "trimesh>=4.6",
]  # fmt: skip

setup(
    name=PACKAGE,
    version="0.1.0",
    description="The embedded simulator of Lodestar",
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
    entry_points={
        "console_scripts": [
            f"{name} = {PACKAGE}.nodes.{name}_node:main" for name in ("sim", "sim_navigator", "go2_stand_in")
        ]
    },
)
