// What lies over the map in both views: rooms, ways, frontiers, things, the robot, and labels that never overlap.

import { shorten } from "../format";
import type { Point2, Pose2 } from "../geometry";
import type { Entity } from "../protocol";
import type { Store } from "../store";
import type { Selection, UiState } from "../ui";
import { type Box, placeLabels, type Wish } from "./labels";
import type { Palette } from "./palette";
import type { Projection } from "./projection";

const FONT = "12px system-ui, sans-serif";
const ROOM_FONT = "600 12px system-ui, sans-serif";
const LINE = 14; // px, height of a label
const MOST_WIDTHS = 5_000; // texts whose width is kept
const LONGEST = 26; // characters of a label
const LETTERS_FROM = 8; // px per m from which things are named

export interface Hit extends Selection {
  u: number;
  v: number;
}

interface Mark {
  text: string;
  color: string;
  font: string;
}

/** Draws over one canvas, and remembers where things came to lie. */
export class Overlay {
  hits: Hit[] = [];
  labels: ReadonlyMap<string, Box> = new Map();
  private sides: ReadonlyMap<string, number> = new Map();
  private readonly widths = new Map<string, number>();
  private wishes: Wish[] = [];
  private covered: Box[] = []; // by marks, which no label may cover
  private marks = new Map<string, Mark>();
  private readonly at: [number, number] = [0, 0];

  constructor(private readonly context: CanvasRenderingContext2D) {}

  draw(view: Projection, store: Store, ui: UiState, palette: Palette): void {
    this.hits = [];
    this.wishes = [];
    this.covered = [];
    this.marks = new Map();
    const { layers } = ui;
    if (layers.rooms) this.rooms(view, store, ui, palette);
    if (layers.zones) this.zones(view, store, ui, palette);
    if (layers.paths) this.paths(view, store, palette);
    if (layers.frontiers) this.frontiers(view, store, ui, palette);
    if (layers.memories) this.memories(view, store, ui, palette);
    if (layers.changes) this.changes(view, store, palette);
    if (layers.objects) this.things(view, store, ui, palette);
    if (ui.lit) this.lit(view, ui.lit.places, palette);
    this.robot(view, store, ui, palette);
    this.letter(view, palette);
  }

  /** The thing that is nearest to a pixel, within `reach` px. */
  hit(u: number, v: number, reach = 14): Selection | null {
    let best: Hit | null = null;
    let nearest = reach;
    for (const one of this.hits) {
      const distance = Math.hypot(one.u - u, one.v - v);
      if (distance < nearest) [best, nearest] = [one, distance];
    }
    if (best) return best;
    for (const [id, box] of this.labels) {
      if (u < box.x || v < box.y || u > box.x + box.width || v > box.y + box.height) continue;
      const [kind, number] = id.split(":");
      if (kind === "entity" || kind === "room") return { kind, id: Number(number) };
      if (kind === "zone") return { kind, id: id.slice("zone:".length) };
    }
    return null;
  }

  private rooms(view: Projection, store: Store, ui: UiState, palette: Palette): void {
    const { context } = this;
    for (const room of store.part("rooms") ?? []) {
      const chosen = ui.selected?.kind === "room" && ui.selected.id === room.id;
      context.strokeStyle = chosen ? palette.accent : palette.line;
      context.lineWidth = chosen ? 2 : 1;
      if (this.trace(view, room.outline, true)) context.stroke();
      if (!view.project(room.x, room.y, 0, this.at)) continue;
      const priority = chosen ? 900 : room.name ? 500 + room.weight : 90;
      this.wish(`room:${room.id}`, room.name || "unnamed", ROOM_FONT, palette.muted, priority, 0, true);
    }
  }

  private zones(view: Projection, store: Store, ui: UiState, palette: Palette): void {
    const { context } = this;
    for (const zone of store.part("zones") ?? []) {
      const way = zone.kind === "closed_way";
      if (!this.trace(view, zone.outline, !way)) continue;
      const chosen = ui.selected?.kind === "zone" && ui.selected.id === zone.id;
      context.strokeStyle = palette.danger;
      context.lineWidth = way ? 4 : chosen ? 3 : 1.5;
      context.setLineDash(way ? [] : [6, 4]);
      if (!way) {
        context.globalAlpha = 0.12;
        context.fillStyle = palette.danger;
        context.fill();
        context.globalAlpha = 1;
      }
      context.stroke();
      context.setLineDash([]);
      const [x, y] = middle(zone.outline);
      if (!view.project(x, y, 0, this.at)) continue;
      this.wish(`zone:${zone.id}`, zone.text || (way ? "closed" : "keep out"), FONT, palette.danger, 450, 6, !way);
    }
  }

  private paths(view: Projection, store: Store, palette: Palette): void {
    const { context } = this;
    const path = store.part("path");
    if (!path) return;
    context.lineJoin = "round";
    context.strokeStyle = palette.muted;
    context.lineWidth = 1.5;
    if (this.trace(view, path.driven, false)) context.stroke();
    context.strokeStyle = palette.accent;
    context.lineWidth = 2.5;
    context.setLineDash([2, 5]);
    context.lineCap = "round";
    if (this.trace(view, path.planned, false)) context.stroke();
    context.setLineDash([]);
    context.lineCap = "butt";
    const directive = store.part("directive");
    if (directive?.running && directive.goal) this.goal(view, directive.goal, palette);
  }

  private goal(view: Projection, [x, y]: Pose2, palette: Palette): void {
    if (!view.project(x, y, 0, this.at)) return;
    const [u, v] = this.at;
    const { context } = this;
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(u, v, 7, 0, 2 * Math.PI);
    context.moveTo(u + 2.5, v);
    context.arc(u, v, 2.5, 0, 2 * Math.PI);
    context.stroke();
    this.wish("goal", "goal", FONT, palette.accent, 800, 11);
  }

  private frontiers(view: Projection, store: Store, ui: UiState, palette: Palette): void {
    const { context } = this;
    for (const frontier of store.part("frontiers") ?? []) {
      if (!view.project(frontier.x, frontier.y, 0, this.at)) continue;
      const [u, v] = this.at;
      if (outside(view, u, v)) continue;
      const chosen = ui.selected?.kind === "frontier" && ui.selected.id === frontier.id;
      const open = frontier.reason === "";
      context.strokeStyle = open ? palette.accent : palette.muted;
      context.lineWidth = chosen ? 3 : 1.5;
      context.beginPath();
      context.moveTo(u, v - 6);
      context.lineTo(u + 5, v + 4);
      context.lineTo(u - 5, v + 4);
      context.closePath();
      context.stroke();
      this.hits.push({ kind: "frontier", id: frontier.id, u, v });
      this.mark(u, v, 5);
      const color = open ? palette.accent : palette.muted;
      if (frontier.gain < 0.5 && !chosen) continue; // nothing to be seen from there
      const gain = Math.min(frontier.gain, 100) / 1000;
      this.wish(`frontier:${frontier.id}`, `+${frontier.gain.toFixed(0)} m²`, FONT, color, (chosen ? 850 : 300) + gain, 9);
    }
  }

  private memories(view: Projection, store: Store, ui: UiState, palette: Palette): void {
    const { context } = this;
    context.fillStyle = palette.muted;
    for (const memory of store.rows("memories").values()) {
      if (memory.x === null || memory.y === null || !view.project(memory.x, memory.y, 0, this.at)) continue;
      if (ui.moment && memory.at > ui.moment.time) continue;
      const [u, v] = this.at;
      context.fillRect(u - 1.5, v - 4, 3, 8);
      context.fillRect(u - 4, v - 1.5, 8, 3);
    }
  }

  /** What has moved, gone or come since the map that was loaded was saved. */
  private changes(view: Projection, store: Store, palette: Palette): void {
    const { context } = this;
    for (const [index, change] of (store.part("changes")?.changes ?? []).entries()) {
      if (change.x === null || change.y === null) continue;
      const thing = change.kind === "gone" ? undefined : store.rows("entities").get(change.entities.at(-1) ?? 0);
      if (!view.project(change.x, change.y, thing?.mean[2] ?? 0, this.at)) continue;
      const [u, v] = this.at;
      if (outside(view, u, v)) continue;
      context.strokeStyle = change.kind === "gone" ? palette.danger : palette.warn;
      context.lineWidth = 2;
      context.beginPath();
      if (change.kind === "gone") {
        context.moveTo(u - 6, v - 6);
        context.lineTo(u + 6, v + 6);
        context.moveTo(u + 6, v - 6);
        context.lineTo(u - 6, v + 6);
      } else context.rect(u - 7, v - 7, 14, 14);
      context.stroke();
      this.mark(u, v, 7);
      this.wish(`change:${index}`, change.kind, FONT, palette.warn, 350, 11);
    }
  }

  private things(view: Projection, store: Store, ui: UiState, palette: Palette): void {
    const { context } = this;
    const named = view.scale >= LETTERS_FROM;
    const lit = new Set(ui.lit?.entities);
    const directive = store.part("directive");
    const found = new Set(directive?.result?.success ? directive.result.entities : []);
    const half = view.scale > 25 ? 3.5 : 2.5;
    for (const entity of store.rows("entities").values()) {
      const chosen = ui.selected?.kind === "entity" && ui.selected.id === entity.id;
      const isFound = found.has(entity.id);
      if (entity.state === "archived" && !chosen && !isFound) continue;
      if (ui.moment && entity.first_seen > ui.moment.time && !chosen) continue; // not known then
      const [x, y, z] = entity.mean;
      if (!view.project(x, y, z, this.at)) continue;
      const [u, v] = this.at;
      if (outside(view, u, v)) continue;
      const shown = chosen || isFound || lit.has(entity.id);
      context.fillStyle = context.strokeStyle = shown ? palette.accent : palette.text;
      context.lineWidth = 1.5;
      if (entity.state === "active") context.fillRect(u - half, v - half, 2 * half, 2 * half);
      else context.strokeRect(u - half, v - half, 2 * half, 2 * half);
      if (shown) this.box(view, entity, palette);
      this.hits.push({ kind: "entity", id: entity.id, u, v });
      if (!named && !shown) continue;
      this.mark(u, v, half);
      this.at[0] = u;
      this.at[1] = v;
      const priority = isFound ? 1001 : chosen ? 1000 : shown ? 950 : 100 + entity.confidence;
      const text = isFound ? `found: ${entity.label}` : entity.label;
      this.wish(`entity:${entity.id}`, text, FONT, shown ? palette.accent : palette.text, priority, half + 4, false, isFound);
    }
  }

  private box(view: Projection, { box: [low, high] }: Entity, palette: Palette): void {
    const { context } = this;
    const corners: [number, number][] = [];
    for (let corner = 0; corner < 8; corner++) {
      const at: [number, number] = [0, 0];
      const pick = (axis: 0 | 1 | 2): number => (corner & (1 << axis) ? high : low)[axis];
      if (!view.project(pick(0), pick(1), pick(2), at)) return;
      corners.push(at);
    }
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let from = 0; from < 8; from++) {
      for (let axis = 0; axis < 3; axis++) {
        if (from & (1 << axis)) continue;
        context.moveTo(...corners[from]!);
        context.lineTo(...corners[from | (1 << axis)]!);
      }
    }
    context.stroke();
  }

  private lit(view: Projection, places: readonly Point2[], palette: Palette): void {
    const { context } = this;
    context.strokeStyle = palette.accent;
    context.lineWidth = 3;
    for (const [x, y] of places) {
      if (!view.project(x, y, 0, this.at)) continue;
      context.beginPath();
      context.arc(...this.at, 16, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  /** Draw the robot, and where it stood at the moment that is shown; labels keep clear of it. */
  private robot(view: Projection, store: Store, ui: UiState, palette: Palette): void {
    const robot = store.part("robot");
    if (ui.moment?.pose) {
      const [x, y, yaw] = ui.moment.pose;
      this.body(view, [x, y, yaw], robot?.footprint ?? [], palette.warn, 0.55, palette.halo);
      this.wish("moment", "then", FONT, palette.warn, 880, 18);
    }
    if (robot?.pose) {
      const [x, y, , yaw] = robot.pose;
      this.body(view, [x, y, yaw], robot.footprint, palette.accent, 1, palette.halo);
      this.mark(...this.at, 12);
    }
  }

  /** Keep labels off a mark of `half` px to each side. */
  private mark(u: number, v: number, half: number): void {
    this.covered.push({ x: u - half, y: v - half, width: 2 * half, height: 2 * half });
  }

  private body(view: Projection, [x, y, yaw]: Pose2, footprint: readonly Point2[], color: string, alpha: number, rim: string): void {
    const { context } = this;
    const [cos, sin] = [Math.cos(yaw), Math.sin(yaw)];
    const outline = footprint.map(([fx, fy]): Point2 => [x + cos * fx - sin * fy, y + sin * fx + cos * fy]);
    context.globalAlpha = alpha;
    context.fillStyle = context.strokeStyle = color;
    context.lineWidth = 1.5;
    if (this.trace(view, outline, true)) {
      context.globalAlpha = 0.25 * alpha;
      context.fill();
      context.globalAlpha = alpha;
      context.stroke();
    }
    const tip: [number, number] = [0, 0];
    if (view.project(x + cos, y + sin, 0, tip) && view.project(x, y, 0, this.at)) {
      const [u, v] = this.at;
      const turn = Math.atan2(tip[1] - v, tip[0] - u);
      context.beginPath();
      for (const [angle, reach] of [[0, 11], [2.5, 9], [Math.PI, 4], [-2.5, 9]] as const) {
        context.lineTo(u + reach * Math.cos(turn + angle), v + reach * Math.sin(turn + angle));
      }
      context.closePath();
      context.fill();
      context.strokeStyle = rim;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  private trace(view: Projection, outline: readonly Point2[], close: boolean): boolean {
    if (outline.length < 2) return false;
    this.context.beginPath();
    for (const [x, y] of outline) {
      if (!view.project(x, y, 0, this.at)) return false;
      this.context.lineTo(...this.at);
    }
    if (close) this.context.closePath();
    return true;
  }

  /** Wish for a label at the place that was projected last. */
  private wish(id: string, said: string, font: string, color: string, priority: number, gap: number, centred = false, required = false): void {
    const text = shorten(said, LONGEST);
    const [x, y] = this.at;
    this.wishes.push({ id, x, y, width: this.width(text, font) + 4, height: LINE, gap, priority, centred, required });
    this.marks.set(id, { text, color, font });
  }

  private width(text: string, font: string): number {
    const key = `${font}|${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.widths.size >= MOST_WIDTHS) this.widths.clear();
      this.context.font = font;
      width = Math.ceil(this.context.measureText(text).width);
      this.widths.set(key, width);
    }
    return width;
  }

  private letter(view: Projection, palette: Palette): void {
    const { context } = this;
    const { boxes, sides } = placeLabels(this.wishes, view.width, view.height, this.covered, this.sides);
    this.sides = sides;
    this.labels = boxes;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.strokeStyle = palette.halo;
    context.lineWidth = 3;
    for (const [id, box] of boxes) {
      const { text, color, font } = this.marks.get(id)!;
      context.font = font;
      context.strokeText(text, box.x + 2, box.y + box.height / 2);
      context.fillStyle = color;
      context.fillText(text, box.x + 2, box.y + box.height / 2);
    }
  }
}

function outside(view: Projection, u: number, v: number): boolean {
  return u < -20 || v < -20 || u > view.width + 20 || v > view.height + 20;
}

function middle(outline: readonly Point2[]): Point2 {
  const count = Math.max(1, outline.length);
  const sum = outline.reduce(([x, y], [px, py]): Point2 => [x + px, y + py], [0, 0]);
  return [sum[0] / count, sum[1] / count];
}
