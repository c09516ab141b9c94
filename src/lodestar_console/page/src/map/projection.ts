// From the map frame (m) to the screen (px) and back. The flat and the solid map are drawn over by the same code.

import type { Point2 } from "../geometry";

export interface Projection {
  readonly width: number; // px
  readonly height: number;
  /** Pixels per metre at the middle of the screen. */
  readonly scale: number;
  /** Put the place of (x, y, z) into `into`; false where it is behind the eye. */
  project(x: number, y: number, z: number, into: [number, number]): boolean;
  /** The place of the floor (z = 0) that is seen at a pixel; null above the horizon. */
  floor(u: number, v: number): Point2 | null;
}

const NEAREST = 400; // px per m
const FARTHEST = 2; // px per m

/** The map from above: x to the right, y up. */
export class FlatView implements Projection {
  width = 1;
  height = 1;
  scale = 40;
  middle: Point2 = [0, 0]; // m, at the middle of the screen

  project(x: number, y: number, _z: number, into: [number, number]): boolean {
    into[0] = this.width / 2 + (x - this.middle[0]) * this.scale;
    into[1] = this.height / 2 - (y - this.middle[1]) * this.scale;
    return true;
  }

  floor(u: number, v: number): Point2 {
    return [
      this.middle[0] + (u - this.width / 2) / this.scale,
      this.middle[1] - (v - this.height / 2) / this.scale,
    ];
  }

  /** Take another size in px; the upper left corner stays where it is, and so does each place that was clicked. */
  resize(width: number, height: number): void {
    const [x, y] = this.floor(0, 0);
    this.width = width;
    this.height = height;
    const [nowX, nowY] = this.floor(0, 0);
    this.middle = [this.middle[0] + x - nowX, this.middle[1] + y - nowY];
  }

  pan(du: number, dv: number): void {
    this.middle = [this.middle[0] - du / this.scale, this.middle[1] + dv / this.scale];
  }

  /** Zoom by a factor; what is at pixel (u, v) stays there. */
  zoom(factor: number, u = this.width / 2, v = this.height / 2): void {
    const [x, y] = this.floor(u, v);
    this.scale = Math.min(NEAREST, Math.max(FARTHEST, this.scale * factor));
    const [nowX, nowY] = this.floor(u, v);
    this.middle = [this.middle[0] + x - nowX, this.middle[1] + y - nowY];
  }

  /** Show the whole of [left, bottom, right, top] (m), with a margin. */
  fit([left, bottom, right, top]: [number, number, number, number]): void {
    this.middle = [(left + right) / 2, (bottom + top) / 2];
    const wide = Math.max(right - left, 1);
    const high = Math.max(top - bottom, 1);
    this.scale = Math.min(NEAREST, Math.max(FARTHEST, 0.92 * Math.min(this.width / wide, this.height / high)));
  }
}
