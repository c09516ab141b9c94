// The surface cloud: coloured voxels, kept dense in typed arrays so that a change touches only its own place.

import { type Frame, VOXEL } from "./frames";

export const MOST_VOXELS = 400_000;

export class VoxelCloud {
  pitch = 0.05; // m
  count = 0;
  positions = new Float32Array(3 * 1024); // m, map frame
  colors = new Uint8Array(3 * 1024);
  instances = new Uint32Array(1024);
  /** Places that have changed since `takeChanges`, as [first, end). */
  private changed: [number, number] = [0, 0];
  private readonly places = new Map<number, number>();
  private keys = new Float64Array(1024);
  /** Voxels that came when there was no place for them. */
  left = 0;

  apply(frame: Frame): void {
    const { body, count } = frame;
    this.pitch = body.getFloat32(0, true);
    if (frame.whole) this.clear();
    for (let index = 0, at = 4; index < count; index++, at += VOXEL) {
      const x = body.getInt16(at, true);
      const y = body.getInt16(at + 2, true);
      const z = body.getInt16(at + 4, true);
      const key = ((x + 32768) * 65536 + (y + 32768)) * 65536 + (z + 32768);
      if (body.getUint8(at + 9) & 1) this.remove(key);
      else this.put(key, x, y, z, at + 6, body);
    }
  }

  /** First and end of the places that have changed since the last call. */
  takeChanges(): [number, number] {
    const changed = this.changed;
    this.changed = [this.count, 0];
    return changed;
  }

  private put(key: number, x: number, y: number, z: number, at: number, body: DataView): void {
    let place = this.places.get(key);
    if (place === undefined) {
      if (this.count === MOST_VOXELS) {
        this.left++;
        return;
      }
      place = this.count++;
      this.grow();
      this.places.set(key, place);
      this.keys[place] = key;
      this.positions[3 * place] = (x + 0.5) * this.pitch;
      this.positions[3 * place + 1] = (y + 0.5) * this.pitch;
      this.positions[3 * place + 2] = (z + 0.5) * this.pitch;
    }
    for (let channel = 0; channel < 3; channel++) this.colors[3 * place + channel] = body.getUint8(at + channel);
    this.instances[place] = body.getUint32(at + 4, true);
    this.touch(place);
  }

  private remove(key: number): void {
    const place = this.places.get(key);
    if (place === undefined) return;
    this.places.delete(key);
    const last = --this.count;
    if (place === last) return;
    this.positions.copyWithin(3 * place, 3 * last, 3 * last + 3);
    this.colors.copyWithin(3 * place, 3 * last, 3 * last + 3);
    this.instances[place] = this.instances[last]!;
    this.keys[place] = this.keys[last]!;
    this.places.set(this.keys[place]!, place);
    this.touch(place);
  }

  private touch(place: number): void {
    this.changed = [Math.min(this.changed[0], place), Math.max(this.changed[1], place + 1)];
  }

  private clear(): void {
    this.places.clear();
    this.count = 0;
    this.left = 0;
    this.changed = [0, 0];
  }

  private grow(): void {
    if (this.count <= this.instances.length) return;
    const wanted = Math.min(MOST_VOXELS, 2 * this.instances.length);
    const copy = <T extends Float32Array | Float64Array | Uint8Array | Uint32Array>(from: T, into: T): T => {
      into.set(from);
      return into;
    };
    this.positions = copy(this.positions, new Float32Array(3 * wanted)) as Float32Array<ArrayBuffer>;
    this.colors = copy(this.colors, new Uint8Array(3 * wanted)) as Uint8Array<ArrayBuffer>;
    this.instances = copy(this.instances, new Uint32Array(wanted)) as Uint32Array<ArrayBuffer>;
    this.keys = copy(this.keys, new Float64Array(wanted)) as Float64Array<ArrayBuffer>;
  }
}
