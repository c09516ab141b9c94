// The link to the server for state: ordered messages, requests with replies, and how long ago it was last heard.

import type { PageMessage, Reply, ServerMessage } from "./protocol";
import { Socket } from "./socket";
import type { Store } from "./store";

export const PING_EVERY = 500; // ms
const WATCH_EVERY = 50; // ms
export const LOST_AFTER = 900; // ms without an answer; seen within a second
const GIVE_UP_AFTER = 4_000; // ms without an answer, then the connection is made anew
const REPLY_WITHIN = 65_000; // ms

export interface LinkState {
  lost: boolean;
  /** The server answers, and knows no session of this browser any more. */
  ended: boolean;
  /** Seconds since the server was heard last. */
  age: number;
  /** Seconds from a ping to its answer; null before the first. */
  delay: number | null;
}

/** Names of the requests, and what each has to say beside its number. */
export type RequestName = PageMessage["type"];
export type Content<Name extends RequestName> = Omit<Extract<PageMessage, { type: Name }>, "type" | "id">;

interface Waiting {
  resolve(reply: Reply): void;
  timer: ReturnType<typeof setTimeout>;
}

export function refusal(text: string, code = "link"): Reply {
  return { type: "reply", id: 0, ok: false, code, text, value: null };
}

export class StateLink {
  state: LinkState = { lost: true, ended: false, age: 0, delay: null };
  /** Seconds to add to the browser's clock to get the robot's; the browser's own may be wrong by any amount. */
  clockOffset = 0;
  private readonly socket: Socket;
  private readonly waiting = new Map<number, Waiting>();
  private readonly pings = new Map<number, number>();
  private readonly listeners = new Set<() => void>();
  private heard = performance.now();
  private next = 1;

  constructor(private readonly store: Store) {
    this.socket = new Socket("/ws/state", {
      opened: () => this.ping(),
      received: (data) => this.receive(JSON.parse(data as string) as ServerMessage),
      closed: () => this.drop(),
    });
  }

  start(): void {
    this.socket.connect();
    setInterval(() => this.beat(), PING_EVERY);
    setInterval(() => this.watch(), WATCH_EVERY);
    document.addEventListener("visibilitychange", () => {
      this.heard = performance.now(); // a hidden page asks for nothing, so it has heard little
      this.beat();
    });
  }

  /** Time by the robot's clock, in seconds. */
  now(): number {
    return Date.now() / 1000 + this.clockOffset;
  }

  /** Ask the server for something. The reply says in a sentence what came of it, also where the link is lost. */
  request<Name extends RequestName>(type: Name, content: Content<Name>): Promise<Reply> {
    const id = this.next++;
    if (!this.socket.send({ type, id, ...content })) {
      return Promise.resolve(refusal("The link to the robot is lost. Nothing was sent."));
    }
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.settle(id, refusal("The robot has not answered within 65 s. It may still do it.", "late")),
        REPLY_WITHIN,
      );
      this.waiting.set(id, { resolve, timer });
    });
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private receive(message: ServerMessage): void {
    this.heard = performance.now();
    if (message.type === "hello") this.setClock(message.server_time, 0), this.store.greet(message);
    else if (message.type === "part") this.store.setPart(message);
    else if (message.type === "reply") this.settle(message.id, message);
    else if (message.type === "pong") this.pong(message.id, message.server_time);
    else if (message.type === "delta" && !this.store.applyDelta(message)) {
      this.socket.send({ type: "resync", id: this.next++, name: message.name });
    }
    if (this.state.lost) this.update();
  }

  private pong(id: number, serverTime: number): void {
    const sent = this.pings.get(id);
    if (sent === undefined) return;
    for (const older of this.pings.keys()) if (older <= id) this.pings.delete(older);
    const delay = (performance.now() - sent) / 1000;
    this.setClock(serverTime, delay / 2);
    this.update(delay);
  }

  private setClock(serverTime: number, since: number): void {
    this.clockOffset = serverTime + since - Date.now() / 1000;
  }

  private beat(): void {
    if (document.hidden) return;
    const silent = performance.now() - this.heard;
    if (this.socket.open && silent > GIVE_UP_AFTER) this.socket.restart();
    this.ping();
    this.update();
  }

  private watch(): void {
    if (!this.state.lost && !document.hidden && performance.now() - this.heard >= LOST_AFTER) this.update();
  }

  private ping(): void {
    const id = this.next++;
    if (this.socket.send({ type: "ping", id })) this.pings.set(id, performance.now());
  }

  private update(delay = this.state.delay): void {
    const age = (performance.now() - this.heard) / 1000;
    const lost = !this.socket.open || age * 1000 >= LOST_AFTER;
    this.state = { lost, ended: this.state.ended && lost, age, delay };
    this.listeners.forEach((listener) => listener());
  }

  private settle(id: number, reply: Reply): void {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    this.waiting.delete(id);
    waiting.resolve(reply);
  }

  private drop(): void {
    this.pings.clear();
    for (const id of [...this.waiting.keys()]) {
      this.settle(id, refusal("The link was lost before the robot answered. It may have been done: look before you repeat it."));
    }
    this.update();
    void fetch("/").then(
      (response) => {
        this.state = { ...this.state, ended: response.status === 401 };
        this.update();
      },
      () => undefined, // the server is not there at all
    );
  }
}
