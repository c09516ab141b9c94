// The link for what is drawn: grid, cloud, camera, looks. Only what the page shows is asked for; a hidden one asks for nothing.

import { VoxelCloud } from "./cloud";
import { type CameraFrame, type Frame, readCamera, readFrame, readRaster } from "./frames";
import { CAMERA, CLOUD, GRID, LOOKS, type Wanted } from "./protocol";
import { Raster } from "./raster";
import { Socket } from "./socket";

const NOTHING: Wanted = { grid: false, cloud: false, camera: false, looks: false, memories: false, hz: 1 };

export type ViewTopic = "grid" | "cloud" | "camera" | "looks";

const TOPICS: Record<number, ViewTopic> = { [CLOUD]: "cloud", [GRID]: "grid", [CAMERA]: "camera", [LOOKS]: "looks" };

export class ViewLink {
  readonly grid = new Raster();
  readonly looks = new Raster();
  readonly cloud = new VoxelCloud();
  camera: CameraFrame | null = null;
  private readonly socket: Socket;
  private readonly revisions = new Map<number, number>();
  private readonly listeners = new Map<ViewTopic, Set<() => void>>();
  private wants: Wanted = { ...NOTHING, grid: true, camera: true, hz: 5 };
  private order: Promise<void> = Promise.resolve();

  constructor() {
    this.socket = new Socket("/ws/view", {
      opened: () => {
        this.revisions.clear();
        this.tell();
      },
      received: (data) => {
        // Rasters are inflated asynchronously: one frame after the other keeps their order.
        this.order = this.order.then(() => this.receive(data as ArrayBuffer)).catch(() => this.socket.restart());
      },
      closed: () => undefined,
    });
    document.addEventListener("visibilitychange", () => this.tell());
  }

  start(): void {
    this.socket.connect();
  }

  want(change: Partial<Wanted>): void {
    this.wants = { ...this.wants, ...change };
    this.tell();
  }

  subscribe(topic: ViewTopic, listener: () => void): () => void {
    const listeners = this.listeners.get(topic) ?? new Set();
    listeners.add(listener);
    this.listeners.set(topic, listeners);
    return () => listeners.delete(listener);
  }

  private tell(): void {
    this.socket.send({ want: document.hidden ? NOTHING : this.wants });
  }

  private async receive(data: ArrayBuffer): Promise<void> {
    const frame = readFrame(data);
    const topic = TOPICS[frame.kind];
    if (!topic) return;
    const known = this.revisions.get(frame.kind) ?? 0;
    if (!frame.whole && frame.kind !== CAMERA && frame.previous !== known) {
      throw new RangeError(`frame ${frame.revision} of the ${topic} follows ${frame.previous}, and ${known} is here`);
    }
    await this.take(frame);
    this.revisions.set(frame.kind, frame.revision);
    this.listeners.get(topic)?.forEach((listener) => listener());
  }

  private async take(frame: Frame): Promise<void> {
    if (frame.kind === CLOUD) this.cloud.apply(frame);
    else if (frame.kind === GRID) this.grid.apply(await readRaster(frame), frame.whole);
    else if (frame.kind === LOOKS) this.looks.apply(await readRaster(frame), frame.whole);
    else this.camera = readCamera(frame);
  }
}
