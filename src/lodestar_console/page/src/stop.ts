// STOP: its own socket, no lease, no focus. It tells when the robot really stands, and notices a link that only seems open.

import { clock, duration } from "./format";
import type { Hold, Robot, StopReply, StopRequest } from "./protocol";
import { Socket, socketAddress } from "./socket";

export type StopPhase = "sending" | Exclude<StopReply["stop"], "released">;

export interface StopState {
  phase: StopPhase;
  /** Whether the socket for STOP has answered lately. */
  connected: boolean;
  /** Seconds from the press to what the server has told last. */
  after: number | null;
  /** Time of the robot's clock at which the server has told the phase. */
  at: number | null;
  text: string;
}

const PING_EVERY = 500; // ms
const DEAD_AFTER = 1_200; // ms without an answer to a ping: the connection is made anew
const OTHER_WAYS_AFTER = 300; // ms without an answer to STOP, then by other ways too; again each time until one answers
const UNANSWERED_AFTER = 1_000; // ms from the press after which the page says that nothing has answered
const POST_PATIENCE = 3_000; // ms; the server answers within about one second
const GATE_SILENT = 3; // s without a word of the motion gate, which speaks once a second
const MEASURED_AFTER = 0.1; // s from a reply from which the robot's state is newer, with the rounding of its stamp

/** What a phase may be followed by: one of the same rank or a later one. A refusal is no end of a press that is held. */
const ORDER: StopPhase[] = ["ready", "sending", "sent", "refused", "held", "stands"];

/** Whether what the gate has latched is old: it has not been heard for some seconds. */
export function gateIsSilent(robot: Robot): boolean {
  return robot.gate_age == null || robot.gate_age > GATE_SILENT;
}

/** What the page says of STOP. lost: the link for the robot's state is, so that nothing new is known. */
export function stopText(state: StopState, robot: Robot | undefined, lost: boolean): string {
  const { phase, after, at } = state;
  const within = after === null ? "" : ` after ${duration(after)}`;
  const since = !lost && robot && at !== null && robot.stamp > at + MEASURED_AFTER ? robot : undefined; // of after the reply
  if (phase === "sending") return "Sending stop";
  if (phase === "sent") return "Stop sent, not yet taken";
  if (phase === "refused") return "Stop was refused. Use the robot's own stop.";
  if (phase === "held") return since?.held && since.stands ? "Stop taken: it stands" : `Stop taken${within}, not yet standing`;
  if (phase === "stands") return since && !since.stands ? `Stood${within}, and moves again` : `Stands${within}`;
  if (!robot?.held) return "";
  if (lost) return "Stopped when last heard";
  if (gateIsSilent(robot)) return "No word of the motion gate: use the robot's own stop";
  return robot.stands ? "Stopped: it stands" : "Stopped: it still moves";
}

/** Who holds or pauses the robot, and since when. */
export function holdersText(robot: Robot | undefined): string {
  const one = ({ kind, who, since }: Hold): string => `${kind === "hold" ? "Held" : "Paused"} by ${who} since ${clock(since)}`;
  return (robot?.holds ?? []).map(one).join(", ");
}

export class StopLink {
  state: StopState = { phase: "ready", connected: false, after: null, at: null, text: "" };
  private readonly socket: Socket;
  private readonly listeners = new Set<() => void>();
  private pressed = 0;
  private presses = 0;
  private current = 0; // number of the press that counts; 0 = none, and late replies to others are nothing
  private pinged = 0; // when the oldest ping that has no answer went out; 0 = none waits
  private timer: ReturnType<typeof setInterval> | undefined;
  private fresh: WebSocket[] = [];
  private readonly posts = new Set<AbortController>();

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
    this.leave();
    this.pressed = performance.now();
    this.current = ++this.presses;
    this.change({ phase: "sending", after: null, at: null, text: "" });
    this.timer = setInterval(() => this.tryOtherWays(), OTHER_WAYS_AFTER);
    if (this.socket.send(this.request)) return;
    this.socket.connect();
    this.tryOtherWays();
  }

  /** Whoever resumes the robot ends the press: nothing of it is sent or told any more. */
  release(): void {
    this.leave();
    this.change({ phase: "ready", after: null, at: null, text: "" });
  }

  /** Somebody else has resumed a robot that was held. */
  noLongerHeld(): void {
    if (this.state.phase === "held" || this.state.phase === "stands") this.release();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private opened(): void {
    this.pinged = 0;
    this.change({ connected: true });
    if (this.isOpen) this.socket.send(this.request);
  }

  /** Whether a press has no answer of the gate yet. */
  private get isOpen(): boolean {
    return this.state.phase === "sending" || this.state.phase === "sent";
  }

  private get request(): Required<StopRequest> {
    return { stop: true, press: this.current };
  }

  /** A word on the socket that stands: it is alive. */
  private heard(message: StopReply): void {
    this.pinged = 0;
    if (!this.state.connected) this.change({ connected: true });
    this.receive(message);
  }

  private receive(message: StopReply, press: number | undefined = message.press): void {
    const { stop, at, text } = message;
    if (stop === "ready" || !press || press !== this.current) return;
    if (stop === "released") return this.release();
    if (ORDER.indexOf(stop) < ORDER.indexOf(this.state.phase)) return; // a slower way tells what is known already
    if (stop !== "sent") clearInterval(this.timer);
    if (stop === this.state.phase) return text ? this.change({ text }) : undefined;
    this.change({ phase: stop, after: (performance.now() - this.pressed) / 1000, at, text });
    if (stop === "stands") this.leaveFresh();
  }

  private ping(): void {
    if (document.hidden || !this.socket.open) return;
    const now = performance.now();
    if (this.pinged > 0 && now - this.pinged > DEAD_AFTER) {
      this.pinged = 0;
      this.socket.restart();
    } else if (this.socket.send({ stop: false })) this.pinged ||= now;
  }

  /** Send STOP over a new connection and as a request of its own, until the gate has answered; what answers first counts. */
  private tryOtherWays(): void {
    const waited = performance.now() - this.pressed;
    const sent = this.state.phase === "sent";
    if (!sent) this.change({ connected: false });
    if (waited > UNANSWERED_AFTER) {
      const since = `for ${(waited / 1000).toFixed(1)} s, and still being sent`;
      const text = `${sent ? `No word of the robot ${since}` : `Not delivered ${since}: no link to the robot`}. Use its own stop or remote control.`;
      this.change({ text });
    }
    this.leaveFresh(2);
    const socket = new WebSocket(socketAddress("/ws/stop"));
    const request = this.request;
    socket.onopen = () => socket.send(JSON.stringify(request));
    socket.onmessage = (event) => this.receive(JSON.parse(event.data as string) as StopReply);
    this.fresh.push(socket);
    void this.post(request.press);
  }

  private async post(press: number): Promise<void> {
    const control = new AbortController();
    const patience = setTimeout(() => control.abort(), POST_PATIENCE);
    this.posts.add(control);
    try {
      const response = await fetch("/stop", { method: "POST", signal: control.signal });
      if (response.ok) this.receive((await response.json()) as StopReply, press);
    } catch {
      // this way is closed too; the others go on
    } finally {
      clearTimeout(patience);
      this.posts.delete(control);
    }
  }

  /** End what goes on for a press. */
  private leave(): void {
    clearInterval(this.timer);
    this.current = 0;
    this.leaveFresh();
    for (const control of this.posts) control.abort();
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
