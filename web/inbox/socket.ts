// A websocket that comes back by itself: after longer and longer pauses, and at once when the browser is online again.

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;
const PING_INTERVAL = 25_000;

export interface SocketHandlers {
  /** Called for each connection; `attempts` is how many failed since the last one. */
  opened: () => void;
  closed: (attempts: number) => void;
  event: (name: string, data: unknown) => void;
}

export class Socket {
  readonly #address: () => string;
  readonly #handlers: SocketHandlers;
  #socket: WebSocket | undefined;
  #attempts = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ping: ReturnType<typeof setInterval> | undefined;

  constructor(address: () => string, handlers: SocketHandlers) {
    this.#address = address;
    this.#handlers = handlers;
  }

  open(): void {
    clearTimeout(this.#timer);
    if (this.#socket) return;
    const socket = new WebSocket(this.#address());
    this.#socket = socket;
    socket.onopen = () => {
      this.#attempts = 0;
      // Keeps proxies from closing a connection that looks idle.
      this.#ping = setInterval(() => socket.send("ping"), PING_INTERVAL);
      this.#handlers.opened();
    };
    socket.onmessage = ({ data }) => this.#read(data);
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#drop();
      this.#attempts += 1;
      this.#timer = setTimeout(() => this.open(), pauseAfter(this.#attempts));
      this.#handlers.closed(this.#attempts);
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#drop();
    socket?.close();
  }

  #drop(): void {
    clearInterval(this.#ping);
    this.#socket = undefined;
  }

  #read(text: unknown): void {
    if (typeof text !== "string" || !text.startsWith("{")) return;
    const { event, data } = JSON.parse(text);
    this.#handlers.event(event, data);
  }
}

/** Doubles from a second to half a minute; half of it is random, so that clients of a restarted server do not return together. */
export function pauseAfter(attempts: number, random: () => number = Math.random): number {
  const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempts - 1));
  return longest / 2 + (longest / 2) * random();
}
