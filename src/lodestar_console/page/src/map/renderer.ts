// Draws the map once per change: the flat one by a canvas alone, the solid one by three.js under the same overlay.

import type { App } from "../app";
import type { Point2 } from "../geometry";
import { Overlay } from "./overlay";
import { type Palette, readPalette } from "./palette";
import { RasterPicture } from "./picture";
import { FlatView, type Projection } from "./projection";
import { SolidView } from "./solid";

type Rgba = readonly [number, number, number, number];

function gridColor(value: number, { unknown, free, occupied }: Palette): Rgba {
  return [...(value === 0 ? unknown : value === 1 ? free : occupied), 255];
}

function looksColor(value: number): Rgba {
  return [240, 165, 40, Math.round(0.45 * value)];
}

export class MapRenderer {
  readonly flat = new FlatView();
  readonly overlay: Overlay;
  solid: SolidView | null = null;
  /** Whether the middle is marked, where the keyboard points. */
  crosshair = false;
  /** Pixel of the page where the pointer went down: a drag is no click. */
  pressedAt: [number, number] = [0, 0];
  private readonly gridPicture: RasterPicture;
  private readonly looksPicture: RasterPicture;
  private readonly context: CanvasRenderingContext2D;
  private palette: Palette = readPalette();
  private asked = 0;
  private stale = true; // what three.js has drawn; the overlay alone is drawn far more often
  private moved = "";
  /** Whether the operator has chosen what to see; until then all of the map is shown as it grows. */
  private chosen = false;
  private fitted = "";

  constructor(
    private readonly app: App,
    private readonly canvas: HTMLCanvasElement,
  ) {
    this.context = canvas.getContext("2d")!;
    this.overlay = new Overlay(this.context);
    this.gridPicture = new RasterPicture(app.view.grid);
    this.looksPicture = new RasterPicture(app.view.looks);
  }

  get view(): Projection & { pan(du: number, dv: number): void; zoom(factor: number): void; fit(extent: [number, number, number, number]): void } {
    return this.solid ?? this.flat;
  }

  /** Draw before the next frame; any number of calls until then draw once. */
  request = (): void => {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      const began = performance.now();
      this.draw();
      this.app.drawing.last = performance.now() - began;
      this.app.drawing.frames++;
    });
  };

  /** Draw all of it before the next frame, with what three.js draws. */
  requestAll = (): void => {
    this.stale = true;
    this.request();
  };

  /** Draw where the robot has moved by a millimetre or a thousandth of a radian. */
  requestIfMoved = (): void => {
    const pose = this.app.store.part("robot")?.pose ?? [];
    const now = pose.map((value) => value.toFixed(3)).join();
    if (now === this.moved) return;
    this.moved = now;
    if (this.app.ui.state.follow) this.stale = true;
    this.request();
  };

  resize(width: number, height: number): void {
    const ratio = Math.min(devicePixelRatio, 2);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.app.ui.state.places.length > 0) this.flat.resize(width, height);
    else [this.flat.width, this.flat.height] = [width, height]; // the middle stays
    this.solid?.resize(width, height, ratio);
    if (this.fits()) this.fit();
    this.requestAll();
  }

  setSolid(solid: SolidView | null): void {
    this.solid = solid;
    solid?.resize(this.flat.width, this.flat.height, Math.min(devicePixelRatio, 2));
    this.fit();
  }

  /** Show all that is known of the map, also as it grows. */
  fit(): void {
    const extent = this.app.view.grid.extent();
    this.chosen = false;
    if (extent) this.view.fit(extent);
    this.requestAll();
  }

  /** The operator looks where he wants to. */
  choose(): void {
    this.chosen = true;
  }

  lookAt(place: Point2): void {
    this.choose();
    this.centre(place);
    this.requestAll();
  }

  dispose(): void {
    cancelAnimationFrame(this.asked);
  }

  private draw(): void {
    const { app, context, flat } = this;
    const { state } = app.ui;
    if (flat.width < 2 || flat.height < 2) return;
    this.palette = readPalette();
    const renewed = this.gridPicture.update(this.palette, gridColor);
    if (renewed && this.fits()) this.fitIfGrown();
    const { pose } = app.store.part("robot") ?? { pose: null };
    if (state.follow && pose) this.centre([pose[0], pose[1]]);
    if (this.solid) {
      if (this.stale || renewed) this.solid.render(app.view.cloud, app.view.grid, this.gridPicture, renewed, this.palette, state.byInstance);
      this.stale = false;
      context.clearRect(0, 0, flat.width, flat.height);
    } else {
      context.fillStyle = `rgb(${this.palette.unknown.join()})`;
      context.fillRect(0, 0, flat.width, flat.height);
      this.drawRaster(this.gridPicture, app.view.grid);
      if (state.layers.looks) {
        this.looksPicture.update(this.palette, looksColor);
        this.drawRaster(this.looksPicture, app.view.looks);
      }
    }
    this.overlay.draw(this.view, app.store, state, this.palette);
    this.drawSketch(state.places, state.tool === "zone");
    if (!this.solid) this.drawScaleBar();
  }

  /** Whether the view follows what is known: not where the operator looks elsewhere, nor under the corners that he draws. */
  private fits(): boolean {
    const { follow, places } = this.app.ui.state;
    return !this.chosen && !follow && places.length === 0;
  }

  private fitIfGrown(): void {
    const extent = this.app.view.grid.extent();
    if (!extent || extent.join() === this.fitted) return;
    this.fitted = extent.join();
    this.view.fit(extent);
  }

  private centre(place: Point2): void {
    if (this.solid) this.solid.lookAt(place);
    else this.flat.middle = place;
  }

  private drawRaster(picture: RasterPicture, raster: { columns: number; rows: number; resolution: number; origin: number[] }): void {
    if (raster.columns === 0) return;
    const { context, flat } = this;
    const [x, y, yaw] = raster.origin as [number, number, number];
    const corner: [number, number] = [0, 0];
    flat.project(x, y, 0, corner);
    const size = raster.resolution * picture.step * flat.scale;
    context.save();
    context.translate(...corner);
    context.rotate(-yaw);
    context.imageSmoothingEnabled = size < 1;
    context.drawImage(picture.canvas, 0, -picture.canvas.height * size, picture.canvas.width * size, picture.canvas.height * size);
    context.restore();
  }

  private drawSketch(places: readonly Point2[], closed: boolean): void {
    const { context, view, palette } = this;
    const at: [number, number] = [0, 0];
    context.strokeStyle = context.fillStyle = palette.warn;
    context.lineWidth = 2.5;
    context.beginPath();
    for (const [x, y] of places) if (view.project(x, y, 0, at)) context.lineTo(...at);
    if (closed && places.length > 2) {
      context.closePath();
      context.globalAlpha = 0.25;
      context.fill();
      context.globalAlpha = 1;
    }
    context.stroke();
    for (const [x, y] of places) {
      if (!view.project(x, y, 0, at)) continue;
      context.beginPath();
      context.arc(...at, 4, 0, 2 * Math.PI);
      context.fill();
    }
    if (!this.crosshair) return;
    const [u, v] = [view.width / 2, view.height / 2];
    context.beginPath();
    for (const [du, dv] of [[1, 0], [-1, 0], [0, 1], [0, -1]] as const) {
      context.moveTo(u + 4 * du, v + 4 * dv);
      context.lineTo(u + 14 * du, v + 14 * dv);
    }
    context.stroke();
  }

  private drawScaleBar(): void {
    const { context, flat, palette } = this;
    const length = [0.5, 1, 2, 5, 10, 20, 50].find((metres) => metres * flat.scale >= 60) ?? 100;
    const [left, bottom] = [12, flat.height - 12];
    context.strokeStyle = context.fillStyle = palette.muted;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(left, bottom - 4);
    context.lineTo(left, bottom);
    context.lineTo(left + length * flat.scale, bottom);
    context.lineTo(left + length * flat.scale, bottom - 4);
    context.stroke();
    context.font = "12px system-ui, sans-serif";
    context.fillText(`${length} m`, left + 4, bottom - 10);
  }
}
