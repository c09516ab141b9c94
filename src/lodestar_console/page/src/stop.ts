// STOP: its own socket, no lease, no focus. It tells when the robot really stands.

import type { StopReply } from "./protocol";
import { Socket } from "./socket";

export type StopPhase = "ready" | "sending" | StopReply["stop"];

export interface StopState {
  phase: StopPhase;
  connected: boolean;
  /** Seconds from the press to what the server has told last. */
  after: number | null;
  text: string;
}

const UNANSWERED_AFTER = 1_000; // ms from the press

export class StopLink {
  state: StopState = { phase: "ready", connected: false, after: null, text: "" };
  private readonly socket: Socket;
  private readonly listeners = new Set<() => void>();
  private pressed = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.socket = new Socket("/ws/stop", {
      opened: () => this.opened(),
      received: (data) => this.receive(JSON.parse(data as string) as StopReply),
      closed: () => this.change({ connected: false }),
    });
  }

  start(): void {
    this.socket.connect();
  }

  /** Stop the robot. Where the link is down, it is sent as soon as there is one, and the page says so. */
  press(): void {
    this.pressed = performance.now();
    clearTimeout(this.timer);
    this.change({ phase: "sending", after: null, text: "" });
    if (!this.socket.send({ stop: true })) this.socket.connect();
    this.timer = setTimeout(() => this.unanswered(), UNANSWERED_AFTER);
  }

  /** Whoever resumed the robot has answered the stop. */
  clear(): void {
    if (this.state.phase !== "sending") this.change({ phase: "ready", after: null, text: "" });
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private opened(): void {
    this.change({ connected: true });
    if (this.state.phase === "sending") this.socket.send({ stop: true });
  }

  private receive(message: StopReply): void {
    clearTimeout(this.timer);
    this.change({ phase: message.stop, after: (performance.now() - this.pressed) / 1000, text: message.text });
  }

  private unanswered(): void {
    if (this.state.phase !== "sending") return;
    this.change({ text: "Not delivered yet: no link to the robot. Use its own stop or remote control." });
  }

  private change(change: Partial<StopState>): void {
    this.state = { ...this.state, ...change };
    this.listeners.forEach((listener) => listener());
  }
}
