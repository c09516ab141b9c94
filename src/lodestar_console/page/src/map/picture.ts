// Rasters as pictures: occupancy and looks, drawn anew only where they have changed or the colours have.

import type { Raster } from "../raster";
import type { Palette } from "./palette";

const MOST_SIDE = 4096; // px of the picture; a larger raster is drawn at a coarser step

export class RasterPicture {
  readonly canvas = document.createElement("canvas");
  /** Cells per pixel of the picture. */
  step = 1;
  private drawn = "";

  constructor(private readonly raster: Raster) {}

  /** Draw where anything has changed; true where it did. `color` gives red, green, blue, alpha of a cell's value. */
  update(palette: Palette, color: (value: number, palette: Palette) => readonly [number, number, number, number]): boolean {
    const { columns, rows, cells, version } = this.raster;
    const state = `${version} ${palette.name}`;
    if (state === this.drawn || columns === 0 || rows === 0) return false;
    this.drawn = state;
    this.step = Math.max(1, Math.ceil(Math.max(columns, rows) / MOST_SIDE));
    const { step } = this;
    const [width, height] = [Math.ceil(columns / step), Math.ceil(rows / step)];
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const table = new Uint32Array(256);
    for (let value = 0; value < 256; value++) {
      const [red, green, blue, alpha] = color(value, palette);
      table[value] = (alpha << 24) | (blue << 16) | (green << 8) | red;
    }
    for (let row = 0; row < height; row++) {
      const from = row * step * columns;
      const into = (height - 1 - row) * width; // pictures begin at the top, rasters at the bottom
      for (let column = 0; column < width; column++) pixels[into + column] = table[cells[from + column * step]!]!;
    }
    this.canvas.getContext("2d")!.putImageData(image, 0, 0);
    return true;
  }
}
