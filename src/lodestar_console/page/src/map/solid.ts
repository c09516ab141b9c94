// The solid map: the floor's grid and the surface cloud, drawn by three.js only when something has changed.

import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  DoubleSide,
  Mesh,
  MeshBasicMaterial,
  NearestFilter,
  PerspectiveCamera,
  PlaneGeometry,
  Points,
  PointsMaterial,
  Scene,
  SRGBColorSpace,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { VoxelCloud } from "../cloud";
import type { Point2 } from "../geometry";
import type { Raster } from "../raster";
import { instanceColor, type Palette } from "./palette";
import type { RasterPicture } from "./picture";
import type { Projection } from "./projection";

export class SolidView implements Projection {
  width = 1;
  height = 1;
  scale = 40;
  readonly camera = new PerspectiveCamera(50, 1, 0.1, 500);
  readonly controls: OrbitControls;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly geometry = new BufferGeometry();
  private readonly material = new PointsMaterial({ size: 0.06, vertexColors: true });
  private readonly points = new Points(this.geometry, this.material);
  private floorMesh: Mesh<PlaneGeometry, MeshBasicMaterial> | null = null;
  private floorShape = "";
  private paint = new Uint8Array(0); // colours as drawn: of the voxels, or by instance
  private byInstance = false;
  private readonly vector = new Vector3();

  /** Raises an Error where the browser has no WebGL. */
  constructor(canvas: HTMLCanvasElement, handle: HTMLElement, changed: () => void) {
    this.renderer = new WebGLRenderer({ canvas, antialias: false, powerPreference: "low-power" });
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(0, -9, 10);
    this.controls = new OrbitControls(this.camera, handle);
    this.controls.maxPolarAngle = 0.48 * Math.PI;
    this.controls.minDistance = 0.5;
    this.controls.maxDistance = 200;
    this.controls.addEventListener("change", changed);
    this.points.frustumCulled = false;
    this.scene.add(this.points);
  }

  resize(width: number, height: number, ratio: number): void {
    this.width = width;
    this.height = height;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
  }

  /** Look at (x, y) of the floor, keeping distance and direction. */
  lookAt([x, y]: Point2): void {
    const shift = this.vector.set(x, y, 0).sub(this.controls.target);
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.controls.update();
  }

  /** Show the whole of [left, bottom, right, top] (m). */
  fit([left, bottom, right, top]: [number, number, number, number]): void {
    const reach = Math.max(right - left, (top - bottom) * this.camera.aspect, 2);
    const [x, y] = [(left + right) / 2, (bottom + top) / 2];
    this.controls.target.set(x, y, 0);
    this.camera.position.set(x, y - 0.55 * reach, 0.85 * reach);
    this.controls.update();
  }

  turn(angle: number): void {
    this.camera.position.sub(this.controls.target).applyAxisAngle(this.camera.up, angle).add(this.controls.target);
    this.controls.update();
  }

  zoom(factor: number): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    const wanted = Math.min(this.controls.maxDistance, Math.max(this.controls.minDistance, distance / factor));
    this.camera.position.sub(this.controls.target).setLength(wanted).add(this.controls.target);
    this.controls.update();
  }

  pan(du: number, dv: number): void {
    const per = 1 / this.scale;
    const right = this.vector.setFromMatrixColumn(this.camera.matrix, 0).setZ(0).normalize().clone();
    const ahead = new Vector3(0, 0, 1).cross(right);
    const shift = right.multiplyScalar(-du * per).add(ahead.multiplyScalar(dv * per));
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.controls.update();
  }

  render(cloud: VoxelCloud, grid: Raster, picture: RasterPicture, renewed: boolean, palette: Palette, byInstance: boolean): void {
    this.scene.background = new Color(`rgb(${palette.unknown.join()})`);
    this.takeCloud(cloud, byInstance);
    this.takeFloor(grid, picture, renewed);
    this.camera.updateMatrixWorld();
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.scale = this.height / (2 * Math.tan((Math.PI / 360) * this.camera.fov) * distance);
    this.renderer.render(this.scene, this.camera);
  }

  project(x: number, y: number, z: number, into: [number, number]): boolean {
    const { vector } = this;
    vector.set(x, y, z).applyMatrix4(this.camera.matrixWorldInverse);
    if (vector.z > -this.camera.near) return false;
    vector.applyMatrix4(this.camera.projectionMatrix);
    into[0] = ((vector.x + 1) / 2) * this.width;
    into[1] = ((1 - vector.y) / 2) * this.height;
    return true;
  }

  floor(u: number, v: number): Point2 | null {
    const end = this.vector.set((2 * u) / this.width - 1, 1 - (2 * v) / this.height, 0.5).unproject(this.camera);
    const from = this.camera.position;
    const way = end.sub(from);
    if (way.z >= 0) return null;
    const reach = -from.z / way.z;
    return [from.x + reach * way.x, from.y + reach * way.y];
  }

  dispose(): void {
    this.controls.dispose();
    this.geometry.dispose();
    this.material.dispose();
    this.floorMesh?.geometry.dispose();
    this.floorMesh?.material.map?.dispose();
    this.floorMesh?.material.dispose();
    this.renderer.dispose();
  }

  private takeCloud(cloud: VoxelCloud, byInstance: boolean): void {
    let [first, end] = cloud.takeChanges();
    const position = this.geometry.getAttribute("position") as BufferAttribute | undefined;
    if (position?.array !== cloud.positions) {
      this.paint = new Uint8Array(cloud.colors.length);
      this.geometry.setAttribute("position", new BufferAttribute(cloud.positions, 3));
      this.geometry.setAttribute("color", new BufferAttribute(this.paint, 3, true));
      [first, end] = [0, cloud.count];
    }
    if (byInstance !== this.byInstance) {
      this.byInstance = byInstance;
      [first, end] = [0, cloud.count];
    }
    end = Math.min(end, cloud.count);
    if (first < end) {
      for (let index = first; index < end; index++) {
        if (byInstance) this.paint.set(instanceColor(cloud.instances[index]!), 3 * index);
        else for (let channel = 0; channel < 3; channel++) this.paint[3 * index + channel] = cloud.colors[3 * index + channel]!;
      }
      for (const name of ["position", "color"]) {
        const attribute = this.geometry.getAttribute(name) as BufferAttribute;
        attribute.addUpdateRange(3 * first, 3 * (end - first));
        attribute.needsUpdate = true;
      }
    }
    this.geometry.setDrawRange(0, cloud.count);
    this.material.size = 1.2 * cloud.pitch;
  }

  private takeFloor(grid: Raster, picture: RasterPicture, renewed: boolean): void {
    if (grid.columns === 0) return;
    const shape = [grid.columns, grid.rows, grid.resolution, ...grid.origin].join();
    if (shape !== this.floorShape) {
      this.floorShape = shape;
      this.floorMesh?.geometry.dispose();
      this.floorMesh?.material.map?.dispose();
      this.floorMesh?.material.dispose();
      if (this.floorMesh) this.scene.remove(this.floorMesh);
      const [wide, high] = [grid.columns * grid.resolution, grid.rows * grid.resolution];
      const texture = new CanvasTexture(picture.canvas);
      texture.magFilter = NearestFilter;
      texture.colorSpace = SRGBColorSpace;
      texture.generateMipmaps = false;
      texture.minFilter = NearestFilter;
      const material = new MeshBasicMaterial({ map: texture, side: DoubleSide });
      this.floorMesh = new Mesh(new PlaneGeometry(wide, high).translate(wide / 2, high / 2, 0), material);
      this.floorMesh.position.set(grid.origin[0], grid.origin[1], -0.02);
      this.floorMesh.rotation.z = grid.origin[2];
      this.scene.add(this.floorMesh);
    } else if (renewed && this.floorMesh?.material.map) {
      this.floorMesh.material.map.needsUpdate = true;
    }
  }
}
