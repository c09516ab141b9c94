import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { VoxelCloud } from "../src/cloud";
import { readCamera, readFrame, readRaster, VOXEL } from "../src/frames";
import { Raster } from "../src/raster";
import { chance } from "./chance.mjs";

function header(kind, whole, revision, previous, count, bytes) {
  const view = new DataView(new ArrayBuffer(24 + bytes));
  view.setUint8(0, kind);
  view.setUint8(1, whole ? 1 : 0);
  view.setUint32(4, revision, true);
  view.setUint32(8, previous, true);
  view.setUint32(12, count, true);
  view.setFloat64(16, 12.5, true);
  return view;
}

function cloudFrame(whole, voxels) {
  const view = header(1, whole, 1, 0, voxels.length, 4 + VOXEL * voxels.length);
  view.setFloat32(24, 0.05, true);
  voxels.forEach(({ x, y, z, color, removed, instance }, index) => {
    const at = 28 + VOXEL * index;
    [x, y, z].forEach((value, axis) => view.setInt16(at + 2 * axis, value, true));
    color.forEach((value, channel) => view.setUint8(at + 6 + channel, value));
    view.setUint8(at + 9, removed ? 1 : 0);
    view.setUint32(at + 10, instance, true);
  });
  return readFrame(view.buffer);
}

test("changes of voxels by chance leave what the server has", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = chance(seed);
    const cloud = new VoxelCloud();
    const server = new Map();
    for (let step = 0; step < 30; step++) {
      const whole = random() < 0.08;
      if (whole) server.clear();
      const batch = Array.from({ length: Math.floor(random() * 40) }, () => {
        const [x, y, z] = [0, 0, 0].map(() => Math.floor(random() * 6) - 3);
        const voxel = { x, y, z, color: [1, 2, 3].map(() => Math.floor(random() * 256)), removed: !whole && random() < 0.3, instance: Math.floor(random() * 9) };
        if (voxel.removed) server.delete(`${x} ${y} ${z}`);
        else server.set(`${x} ${y} ${z}`, voxel);
        return voxel;
      });
      cloud.apply(cloudFrame(whole, batch));
      assert.equal(cloud.count, server.size);
      for (let index = 0; index < cloud.count; index++) {
        const [x, y, z] = [0, 1, 2].map((axis) => Math.round(cloud.positions[3 * index + axis] / 0.05 - 0.5));
        const held = server.get(`${x} ${y} ${z}`);
        assert.ok(held);
        assert.deepEqual([...cloud.colors.subarray(3 * index, 3 * index + 3)], held.color);
        assert.equal(cloud.instances[index], held.instance);
      }
      const [first, end] = cloud.takeChanges();
      assert.ok(end <= first || (first >= 0 && end <= cloud.instances.length));
    }
  }
});

test("patches by chance leave what the server has", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = chance(seed);
    const [columns, rows] = [5 + Math.floor(random() * 30), 5 + Math.floor(random() * 30)];
    const server = new Uint8Array(columns * rows);
    const raster = new Raster();
    for (let step = 0; step < 15; step++) {
      const whole = step === 0;
      const x0 = whole ? 0 : Math.floor(random() * columns);
      const y0 = whole ? 0 : Math.floor(random() * rows);
      const width = whole ? columns : 1 + Math.floor(random() * (columns - x0));
      const height = whole ? rows : 1 + Math.floor(random() * (rows - y0));
      const cells = Uint8Array.from({ length: width * height }, () => Math.floor(random() * 3));
      for (let row = 0; row < height; row++) server.set(cells.subarray(row * width, (row + 1) * width), (y0 + row) * columns + x0);
      const packed = deflateSync(cells);
      const view = header(2, whole, step + 1, step, 1, 28 + packed.length);
      [0.05, -3, 2, 0].forEach((value, index) => view.setFloat32(24 + 4 * index, value, true));
      [x0, y0, width, height, columns, rows].forEach((value, index) => view.setUint16(40 + 2 * index, value, true));
      new Uint8Array(view.buffer).set(packed, 52);
      raster.apply(await readRaster(readFrame(view.buffer)), whole);
      assert.deepEqual(raster.cells, server);
    }
  }
});

test("a patch beyond its raster, a wrong length and a short frame are refused", async () => {
  const raster = new Raster();
  const patch = { resolution: 0.1, origin: [0, 0, 0], x0: 3, y0: 0, width: 3, height: 1, columns: 5, rows: 5, cells: new Uint8Array(3) };
  assert.throws(() => raster.apply(patch, true), RangeError);
  assert.throws(() => raster.apply({ ...patch, x0: 0, columns: 60000, rows: 60000 }, true), RangeError);
  const packed = deflateSync(new Uint8Array(7));
  const view = header(2, true, 1, 0, 1, 28 + packed.length);
  [0, 0, 5, 5, 5, 5].forEach((value, index) => view.setUint16(40 + 2 * index, value, true));
  new Uint8Array(view.buffer).set(packed, 52);
  await assert.rejects(readRaster(readFrame(view.buffer)), RangeError);
  assert.throws(() => readFrame(new ArrayBuffer(10)), RangeError);
});

test("the extent is that of what is known", () => {
  const raster = new Raster();
  assert.equal(raster.extent(), null);
  const cells = new Uint8Array(100);
  cells[23] = 1;
  cells[57] = 2;
  raster.apply({ resolution: 1, origin: [-5, 10, 0], x0: 0, y0: 0, width: 10, height: 10, columns: 10, rows: 10, cells }, true);
  assert.deepEqual(raster.extent(), [-2, 12, 3, 16]);
});

test("a camera frame has its head and its picture", async () => {
  const head = new TextEncoder().encode(JSON.stringify({ width: 4, height: 3, stamp: 12.5, detections: [], pose: null }));
  const view = header(3, true, 1, 0, 1, 2 + head.length + 3);
  view.setUint16(24, head.length, true);
  new Uint8Array(view.buffer).set(head, 26);
  new Uint8Array(view.buffer).set([9, 8, 7], 26 + head.length);
  const frame = readCamera(readFrame(view.buffer));
  assert.equal(frame.width, 4);
  assert.deepEqual(new Uint8Array(await frame.picture.arrayBuffer()), Uint8Array.from([9, 8, 7]));
});
