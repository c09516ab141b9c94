// A raster of the map (occupancy, looks) that grows by patches.

import type { RasterPatch } from "./frames";

const MOST_CELLS = 64_000_000; // 400 m x 400 m at 5 cm; a larger one is refused

export class Raster {
  columns = 0;
  rows = 0;
  resolution = 0;
  origin: [number, number, number] = [0, 0, 0];
  cells = new Uint8Array(0);
  /** Counts what has changed, for whoever keeps a picture of it. */
  version = 0;

  /** Take a patch. A new size, resolution or origin begins anew; a patch beyond the raster raises RangeError. */
  apply(patch: RasterPatch, whole: boolean): void {
    const { x0, y0, width, height, columns, rows } = patch;
    if (x0 + width > columns || y0 + height > rows || columns * rows > MOST_CELLS) {
      throw new RangeError(`a patch of ${width} x ${height} cells at ${x0}, ${y0} does not fit ${columns} x ${rows}`);
    }
    const moved = patch.origin.some((value, axis) => value !== this.origin[axis]) || patch.resolution !== this.resolution;
    if (whole || moved || columns !== this.columns || rows !== this.rows) this.cells = new Uint8Array(columns * rows);
    Object.assign(this, { columns, rows, resolution: patch.resolution, origin: patch.origin });
    for (let row = 0; row < height; row++) {
      this.cells.set(patch.cells.subarray(row * width, (row + 1) * width), (y0 + row) * columns + x0);
    }
    this.version++;
  }

  /** Smallest and largest x and y of cells that are not 0, in the raster's own axes and m; null where all are 0. */
  extent(): [number, number, number, number] | null {
    let [left, right, bottom, top] = [this.columns, -1, this.rows, -1];
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        if (this.cells[row * this.columns + column] === 0) continue;
        left = Math.min(left, column);
        right = Math.max(right, column);
        bottom = Math.min(bottom, row);
        top = Math.max(top, row);
      }
    }
    if (right < 0) return null;
    const { resolution, origin } = this;
    return [
      origin[0] + left * resolution,
      origin[1] + bottom * resolution,
      origin[0] + (right + 1) * resolution,
      origin[1] + (top + 1) * resolution,
    ];
  }
}
