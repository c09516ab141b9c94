// STOP: its own socket, no lease, no focus. It tells when the robot really stands, and notices a link that only seems open.

import type { StopReply } from "./protocol";
import { Socket, socketAddress } from "./socket";

export type StopPhase = "sending" | StopReply["stop"];

export interface StopState {
  phase: StopPhase;
  /** Whether the socket for STOP has answered lately. */
  connected: boolean;
  /** Seconds from the press to what the server has told last. */
  after: number | null;
  text: string;
}

const PING_EVERY = 500; // ms
const DEAD_AFTER = 1_200; // ms without an answer to a ping: the connection is made anew
const OTHER_WAYS_AFTER = 300; // ms without an answer to STOP, then by other ways too; again each time until one answers
const UNANSWERED_AFTER = 1_000; // ms from the press after which the page says that nothing has answered

const ORDER: StopPhase[] = ["sending", "sent", "held", "stands"];

export class StopLink {
  state: StopState = { phase: "ready", connected: false, after: null, text: "" };
  private readonly socket: Socket;
  private readonly listeners = new Set<() => void>();
  private pressed = 0;
  private pinged = 0; // when the oldest ping that has no answer went out; 0 = none waits
  private timer: ReturnType<typeof setInterval> | undefined;
  private fresh: WebSocket[] = [];

  constructor() {
    this.socket = new Socket("/ws/stop", {
      opened: () => this.opened(),
      received: (data) => this.heard(JSON.parse(data as string) as StopReply),
      closed: () => this.change({ connected: false }),
    });
  }

  start(): void {
    this.socket.connect();
    setInterval(() => this.ping(), PING_EVERY);
    document.addEventListener("visibilitychange", () => (this.pinged = 0)); // timers of a hidden page are late
  }

  /** Stop the robot: by the socket that stands, and by every other way where that one does not answer at once. */
  press(): void {
    this.pressed = performance.now();
    clearInterval(this.timer);
    this.change({ phase: "sending", after: null, text: "" });
    this.timer = setInterval(() => this.tryOtherWays(), OTHER_WAYS_AFTER);
    if (this.socket.send({ stop: true })) return;
    this.socket.connect();
    this.tryOtherWays();
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
    this.pinged = 0;
    this.change({ connected: true });
    if (this.state.phase === "sending") this.socket.send({ stop: true });
  }

  /** A word on the socket that stands: it is alive. */
  private heard(message: StopReply): void {
    this.pinged = 0;
    if (!this.state.connected) this.change({ connected: true });
    if (message.stop !== "ready") this.receive(message);
  }

  private receive(message: StopReply): void {
    clearInterval(this.timer);
    const step = ORDER.indexOf(message.stop);
    if (step >= 0 && step < ORDER.indexOf(this.state.phase)) return; // a slower way tells what is known already
    this.change({ phase: message.stop, after: (performance.now() - this.pressed) / 1000, text: message.text });
    if (message.stop !== "sent" && message.stop !== "held") this.leaveFresh();
  }

  private ping(): void {
    if (document.hidden || !this.socket.open) return;
    const now = performance.now();
    if (this.pinged > 0 && now - this.pinged > DEAD_AFTER) {
      this.pinged = 0;
      this.socket.restart();
    } else if (this.socket.send({ stop: false })) this.pinged ||= now;
  }

  /** Send STOP over a new connection and as a request of its own; what answers first counts. */
  private tryOtherWays(): void {
    const waited = performance.now() - this.pressed;
    this.change({ connected: false });
    if (waited > UNANSWERED_AFTER) {
      const text = `Not delivered for ${(waited / 1000).toFixed(1)} s, and still being sent: no link to the robot. Use its own stop or remote control.`;
      this.change({ text });
    }
    this.leaveFresh(2);
    const socket = new WebSocket(socketAddress("/ws/stop"));
    socket.onopen = () => socket.send(JSON.stringify({ stop: true }));
    socket.onmessage = (event) => this.receive(JSON.parse(event.data as string) as StopReply);
    this.fresh.push(socket);
    const answered = (told: StopReply): void => this.receive(told);
    void fetch("/stop", { method: "POST", signal: AbortSignal.timeout(3_000) }).then(
      (response) => (response.ok ? response.json().then(answered) : undefined),
      () => undefined, // this way is closed too; the others go on
    );
  }

  /** Close the connections that were made for a STOP, but the newest so many. */
  private leaveFresh(kept = 0): void {
    const old = this.fresh.splice(0, Math.max(0, this.fresh.length - kept));
    for (const socket of old) socket.close();
  }

  private change(change: Partial<StopState>): void {
    this.state = { ...this.state, ...change };
    this.listeners.forEach((listener) => listener());
  }
}
