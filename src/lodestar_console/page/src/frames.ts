// Binary frames of /ws/view: a header of 24 bytes, then what its kind says, all little-endian.

import type { CameraHead } from "./protocol";

const HEADER = 24; // bytes
export const VOXEL = 14; // bytes: i16 x, y, z, u8 r, g, b, flags, u32 instance

export interface Frame {
  kind: number;
  whole: boolean;
  revision: number;
  previous: number;
  count: number;
  stamp: number;
  body: DataView;
}

/** Read the header. Raises RangeError where the frame is shorter than that. */
export function readFrame(buffer: ArrayBuffer): Frame {
  const view = new DataView(buffer);
  return {
    kind: view.getUint8(0),
    whole: (view.getUint8(1) & 1) === 1,
    revision: view.getUint32(4, true),
    previous: view.getUint32(8, true),
    count: view.getUint32(12, true),
    stamp: view.getFloat64(16, true),
    body: new DataView(buffer, HEADER),
  };
}

/** A changed rectangle of a raster: `x0`, `y0`, `width`, `height` cells of a whole of `columns` x `rows`. */
export interface RasterPatch {
  resolution: number; // m per cell
  origin: [number, number, number]; // x, y in m and yaw in rad of the corner of cell (0, 0), map frame
  x0: number;
  y0: number;
  width: number;
  height: number;
  columns: number;
  rows: number;
  cells: Uint8Array;
}

const RASTER_HEAD = 28; // bytes: 4 f32, 6 u16

export async function readRaster(frame: Frame): Promise<RasterPatch> {
  const { body } = frame;
  const packed = new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset + RASTER_HEAD);
  const patch = {
    resolution: body.getFloat32(0, true),
    origin: [body.getFloat32(4, true), body.getFloat32(8, true), body.getFloat32(12, true)] as [number, number, number],
    x0: body.getUint16(16, true),
    y0: body.getUint16(18, true),
    width: body.getUint16(20, true),
    height: body.getUint16(22, true),
    columns: body.getUint16(24, true),
    rows: body.getUint16(26, true),
  };
  const cells = await inflate(packed, patch.width * patch.height);
  return { ...patch, cells };
}

async function inflate(packed: Uint8Array<ArrayBuffer>, length: number): Promise<Uint8Array> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const cells = new Uint8Array(await new Response(stream).arrayBuffer());
  if (cells.length !== length) throw new RangeError(`a raster of ${cells.length} cells where ${length} were told`);
  return cells;
}

export interface CameraFrame extends CameraHead {
  stamp: number; // s, of the robot's clock
  picture: Blob;
}

export function readCamera(frame: Frame): CameraFrame {
  const { body } = frame;
  const length = body.getUint16(0, true);
  const bytes = new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(2, 2 + length))) as CameraHead;
  return { ...head, stamp: frame.stamp, picture: new Blob([bytes.subarray(2 + length)], { type: "image/jpeg" }) };
}
