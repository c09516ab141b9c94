"""A Unitree Go2 in Isaac Sim 6 with the ROS 2 topics of contract.yaml.

    ./python.sh LODESTAR/isaac/run_go2.py [--scene warehouse|FILE.usd] [--start X Y YAW] [--gui]

Run it with Isaac Sim's own Python. Ctrl-C or closing the window ends it.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from contract import Contract, Placement, load
from graphs import GraphSpec, Target, sensor_graph, state_graph
from semantics import FILE as SEMANTICS
from semantics import ClassRules, objects

SCENES = {
    "warehouse": "/Isaac/Environments/Simple_Warehouse/full_warehouse.usd",
    "shelves": "/Isaac/Environments/Simple_Warehouse/warehouse_multiple_shelves.usd",
    "forklifts": "/Isaac/Environments/Simple_Warehouse/warehouse_with_forklifts.usd",
    "office": "/Isaac/Environments/Office/office.usd",
    "hospital": "/Isaac/Environments/Hospital/hospital.usd",
}
SCENE_PRIM, ROBOT_PRIM = "/World/Scene", "/World/Go2"
PHYSICS_DT = 0.005  # s; the walking policy was trained at 200 Hz
# m of base_link above z = 0 at the start, from which the robot settles; as in NVIDIA's example
SPAWN_HEIGHT = 0.5
SETTLING = 1.0  # s of simulated time for landing, before the robot accepts velocities
LIDAR_CONFIG = "Example_Rotary"  # NVIDIA's rotating LiDAR of 10 Hz; its rate must equal the contract's
APERTURE = 20.955  # mm, width of the camera's sensor; the default of a USD camera
# Columns are the axes of a USD camera (x right, y up, looks along -z) in camera_link (x forwards, y left, z up).
LINK_FROM_USD_CAMERA = ((0.0, 0.0, -1.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def main() -> int:
    """Run the simulation until it is closed; return the exit status."""
    given = _parse()
    rules = ClassRules(given.semantics)
    from isaacsim import SimulationApp  # must precede every other import of Isaac Sim

    app = SimulationApp({"headless": not given.gui, "renderer": "RealTimePathTracing"})
    try:
        _simulate(app, load(), rules, given)
    except (RuntimeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        app.close()
    return 0


def _simulate(app: Any, contract: Contract, rules: ClassRules, given: argparse.Namespace) -> None:
    import isaacsim.core.experimental.utils.app as app_utils
    from isaacsim.core.deprecation_manager import import_module
    from isaacsim.core.simulation_manager import SimulationManager
    from isaacsim.core.simulation_manager.impl.isaac_events import IsaacEvents

    for name in (
        "isaacsim.ros2.bridge",
        "isaacsim.robot.policy.examples",
        "isaacsim.sensors.experimental.rtx",
    ):
        app_utils.enable_extension(name)
    app.update()
    torch = import_module("torch")
    robot = _make_stage(app, contract, rules, given)

    from velocities import VelocityInput  # rclpy comes with the bridge

    velocities = VelocityInput(contract)
    walk = _Walk(robot, velocities, torch)
    SimulationManager.register_callback(walk.on_physics_step, IsaacEvents.POST_PHYSICS_STEP)
    base = robot.robot.link_paths[0][0]
    _make_sensors(contract, base)
    app_utils.play()
    ended: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _frame: ended.append(received))
    print(f"the robot's base is {base}; topics as in contract.yaml; Ctrl-C ends", flush=True)
    try:
        while app.is_running() and not ended:
            app.update()
    finally:
        velocities.close()
        app_utils.stop()


class _Walk:
    """Runs the walking policy with the velocity of `cmd_vel_out` at every physics step."""

    def __init__(self, robot: Any, velocities: Any, torch: Any) -> None:
        self._robot, self._velocities, self._torch = robot, velocities, torch
        self._ready, self._time = False, 0.0

    def on_physics_step(self, dt: float, _context: object) -> None:
        """Apply the policy; the first step initializes the robot."""
        if not self._ready:
            self._robot.initialize()
            self._robot.post_reset()
            self._ready = True
            return
        self._time += dt
        velocity = self._velocities.newest() if self._time > SETTLING else (0.0, 0.0, 0.0)
        device = str(self._robot.robot._device)  # the same private field that NVIDIA's policy class reads
        self._robot.forward(dt, self._torch.tensor(velocity, dtype=self._torch.float32, device=device))


def _make_stage(app: Any, contract: Contract, rules: ClassRules, given: argparse.Namespace) -> Any:
    """Load scene and robot; return the robot's policy."""
    import isaacsim.core.experimental.utils.stage as stage_utils
    from isaacsim.core.rendering_manager import RenderingManager
    from isaacsim.core.simulation_manager import SimulationManager
    from isaacsim.robot.policy.examples.robots.go2 import Go2FlatTerrainPolicy
    from isaacsim.storage.native import get_assets_root_path

    path = get_assets_root_path() + SCENES[given.scene] if given.scene in SCENES else given.scene
    stage_utils.define_prim("/World/PhysicsScene", "PhysicsScene")
    stage_utils.add_reference_to_stage(usd_path=path, path=SCENE_PRIM)
    while stage_utils.is_stage_loading():
        app.update()
    labelled = _label(stage_utils.get_current_stage(), rules)
    print(f"{path}: {labelled} objects have a class", flush=True)
    if not labelled:
        raise RuntimeError(
            f"no prim of {path} has a semantic label or a name that {given.semantics} knows: label the stage in Isaac "
            "Sim's Semantics Schema Editor, or give --semantics FILE with patterns of its names"
        )
    SimulationManager.set_physics_sim_device("cpu")
    SimulationManager.set_physics_dt(PHYSICS_DT)
    RenderingManager.set_dt(1.0 / contract.topics["/clock"].rate)
    x, y, yaw = given.start
    half = yaw / 2.0
    return Go2FlatTerrainPolicy(
        prim_path=ROBOT_PRIM,
        position=[x, y, SPAWN_HEIGHT],
        orientation=[math.cos(half), 0.0, 0.0, math.sin(half)],
    )


def _label(stage: Any, rules: ClassRules) -> int:
    """Label every object without a class by the rules, and return the number of objects."""
    import isaacsim.core.experimental.utils.semantics as semantics_utils

    def own_class(prim: Any) -> str | None:
        return ",".join(semantics_utils.get_labels(prim).get("class", ())) or None

    root = stage.GetPrimAtPath(SCENE_PRIM)
    semantics_utils.upgrade_prim_semantics_to_labels(root, include_descendants=True)
    found = list(objects(root, rules, own_class))
    for prim, name in found:
        if own_class(prim) is None:
            semantics_utils.add_labels(prim, labels=name, taxonomy="class")
    return len(found)


def _make_sensors(contract: Contract, base: str) -> None:
    """Add camera and LiDAR to the robot and start the graphs of the bridge."""
    from isaacsim.sensors.experimental.rtx import Lidar, LidarSensor, RtxCamera

    places = {place.child: place for place in contract.static}
    camera = f"{base}/camera_link/camera"
    _mount(f"{base}/camera_link", places["camera_link"])
    RtxCamera(camera, tick_rate=float(contract.topics["camera/color/image_raw"].rate))
    _aim(camera, contract)
    _mount(f"{base}/lidar_link", places["lidar_link"])
    lidar = Lidar.create(
        f"{base}/lidar_link/lidar",
        config=LIDAR_CONFIG,
        tick_rate=float(contract.topics["points"].rate),
        translations=[[0.0, 0.0, 0.0]],
    )
    product = str(LidarSensor(lidar, annotators=[]).render_product.GetPath())
    for spec in (state_graph(contract, base), sensor_graph(contract, camera, product)):
        _make_graph(spec)


def _mount(path: str, place: Placement) -> None:
    """Create an Xform at a fixed place in its parent."""
    import isaacsim.core.experimental.utils.stage as stage_utils
    from pxr import Gf, UsdGeom

    prim = stage_utils.define_prim(path, "Xform")
    x, y, z, w = place.rotation
    transform = Gf.Matrix4d(Gf.Rotation(Gf.Quatd(w, x, y, z)), Gf.Vec3d(*place.translation))
    UsdGeom.Xformable(prim).MakeMatrixXform().Set(transform)


def _aim(path: str, contract: Contract) -> None:
    """Align the camera with camera_link, and set the contract's intrinsics."""
    import isaacsim.core.experimental.utils.stage as stage_utils
    from pxr import Gf, UsdGeom

    prim = stage_utils.get_current_stage().GetPrimAtPath(path)
    rows = LINK_FROM_USD_CAMERA
    # transposed, because Gf uses row vectors
    turn = Gf.Matrix3d(*(rows[column][row] for row in range(3) for column in range(3)))
    UsdGeom.Xformable(prim).MakeMatrixXform().Set(Gf.Matrix4d(turn, Gf.Vec3d(0.0)))
    camera, size = UsdGeom.Camera(prim), contract.camera
    camera.GetHorizontalApertureAttr().Set(APERTURE)
    camera.GetVerticalApertureAttr().Set(APERTURE * size["height"] / size["width"])
    camera.GetFocalLengthAttr().Set(size["fx"] * APERTURE / size["width"])
    camera.GetClippingRangeAttr().Set(Gf.Vec2f(0.05, 1000.0))


def _make_graph(spec: GraphSpec) -> None:
    import omni.graph.core as og
    import usdrt.Sdf

    keys = og.Controller.Keys
    values = [
        (name, [usdrt.Sdf.Path(value)] if isinstance(value, Target) else value) for name, value in spec.values
    ]
    og.Controller.edit(
        {"graph_path": spec.path, "evaluator_name": "execution"},
        {keys.CREATE_NODES: list(spec.nodes), keys.SET_VALUES: values, keys.CONNECT: list(spec.connections)},
    )


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--scene", default="warehouse", help=f"{', '.join(SCENES)}, or the path or URL of a USD"
    )
    parser.add_argument(
        "--start", type=float, nargs=3, default=(0.0, 0.0, 0.0), metavar=("X", "Y", "YAW"), help="m, m, rad"
    )
    parser.add_argument(
        "--semantics", type=Path, default=SEMANTICS, help="classes by names of prims, a YAML list"
    )
    parser.add_argument("--gui", action="store_true", help="open Isaac Sim's window")
    return parser.parse_known_args()[0]  # unknown options stay in sys.argv for Isaac Sim


if __name__ == "__main__":
    sys.exit(main())
