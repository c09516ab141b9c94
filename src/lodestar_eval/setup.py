"""Build and installation of `lodestar_eval`."""

from setuptools import find_packages, setup

PACKAGE = "lodestar_eval"

setup(
    name=PACKAGE,
    version="0.1.0",
    description="Episodes, benchmarks and the demo of Lodestar",
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
    install_requires=["lodestar", "lodestar_sim", "matplotlib>=3.7", "psutil>=5.9"],
    extras_require={"bags": ["rosbags>=0.10"]},
)
