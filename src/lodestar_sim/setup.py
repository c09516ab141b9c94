"""Build and installation of `lodestar_sim`."""

from setuptools import find_packages, setup

PACKAGE = "lodestar_sim"

setup(
    name=PACKAGE,
    version="0.1.0",
    description="The embedded simulator of Lodestar",
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
    install_requires=[
        "lodestar",
        "jsonschema>=4.17",
        "open3d-cpu>=0.19; platform_machine == 'x86_64'",
        "open3d>=0.18; platform_machine != 'x86_64'",
        "trimesh>=4.6",
    ],
    entry_points={
        "console_scripts": [
            f"{name} = {PACKAGE}.nodes.{name}_node:main" for name in ("sim", "sim_navigator", "go2_stand_in")
        ]
    },
)
