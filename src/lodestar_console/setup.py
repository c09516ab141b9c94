"""Build and installation of `lodestar_console`."""

from setuptools import find_packages, setup

PACKAGE = "lodestar_console"
REQUIRES = [
    "lodestar", "lodestar_ros", "mcp>=2", "msgspec>=0.18", "numpy>=1.23", "opencv-python-headless>=4.8",
    "psutil>=5.9", "starlette>=0.40", "uvicorn>=0.30",
]  # fmt: skip

setup(
    name=PACKAGE,
    version="0.1.0",
    description="The operator's page in the browser, and the door for agents",
    maintainer="Lodestar maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-f610357a.example",
    license="Apache-2.0",
    packages=find_packages(include=[PACKAGE, f"{PACKAGE}.*"]),
    package_data={PACKAGE: ["static/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    python_requires=">=3.10",
    zip_safe=False,
    install_requires=REQUIRES,
    entry_points={"console_scripts": [f"console = {PACKAGE}.nodes.console_node:main"]},
)
