// A WebSocket that comes back by itself, later after each attempt that fails.

const FIRST_WAIT = 250; // ms
const LONGEST_WAIT = 5_000; // ms
const HOLDS = 5_000; // ms after which a connection counts as good

export interface Handlers {
  opened(): void;
  received(data: string | ArrayBuffer): void;
  closed(): void;
}

/** Milliseconds before attempt number `failures` + 1, with a share of chance so that pages do not come back in step. */
export function waitAfter(failures: number, chance = Math.random()): number {
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** failures) * (0.75 + 0.5 * chance);
}

/** Address of a socket of the server that this page came from. */
export function socketAddress(path: string): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}

export class Socket {
  private socket: WebSocket | null = null;
  private failures = 0;
  private openedAt = Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly path: string,
    private readonly handlers: Handlers,
  ) {}

  get open(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Bytes that wait to be sent. */
  get backlog(): number {
    return this.socket?.bufferedAmount ?? 0;
  }

  /** Connect now, unless a connection stands or is under way. */
  connect(): void {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    clearTimeout(this.timer);
    const socket = new WebSocket(socketAddress(this.path));
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.openedAt = performance.now();
      this.handlers.opened();
    };
    socket.onmessage = (event) => this.handlers.received(event.data);
    socket.onclose = () => {
      if (this.socket === socket) this.retry();
    };
  }

  /** Send a message; false where there is no connection. */
  send(message: object): boolean {
    if (!this.open) return false;
    this.socket!.send(JSON.stringify(message));
    return true;
  }

  /** Give up a connection that says nothing any more, and make a new one. */
  restart(): void {
    const old = this.socket;
    this.socket = null;
    old?.close();
    this.retry();
  }

  private retry(): void {
    this.socket = null;
    if (performance.now() - this.openedAt > HOLDS) this.failures = 0;
    this.openedAt = Infinity;
    this.handlers.closed();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), waitAfter(this.failures++));
  }
}
