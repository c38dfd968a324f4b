// A server for tests: answers requests as the test says, and speaks the plain websocket.

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  token: string | undefined;
  body: unknown;
}

type Answer = { status?: number; body?: unknown };

export class FakeServer {
  readonly requests: SeenRequest[] = [];
  readonly sockets: Duplex[] = [];
  /** Answers by method and path; what is not here is answered by a bare success. */
  readonly answers = new Map<string, (request: SeenRequest) => Answer | Promise<Answer>>();
  sessions = 0;
  readonly #server = createServer(async (message, response) => {
    const request = await read(message);
    this.requests.push(request);
    const { status = 200, body = { data: {} } } = await this.#answer(request);
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(status === 204 ? undefined : JSON.stringify(body));
  });

  static async start(): Promise<FakeServer> {
    const server = new FakeServer();
    server.#server.on("upgrade", (message, socket) => server.#upgrade(message, socket));
    await new Promise<void>((done) => server.#server.listen(0, "127.0.0.1", done));
    return server;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  pathsOf(method: string): string[] {
    return this.requests.filter((one) => one.method === method).map((one) => one.path);
  }

  push(event: string, data: unknown): void {
    const text = Buffer.from(JSON.stringify({ event, data }));
    const head = text.length < 126 ? [0x81, text.length] : [0x81, 126, text.length >> 8, text.length & 255];
    this.sockets.at(-1)?.write(Buffer.concat([Buffer.from(head), text]));
  }

  dropSockets(): void {
    for (const socket of this.sockets.splice(0)) socket.destroy();
  }

  async stop(): Promise<void> {
    this.dropSockets();
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #answer(request: SeenRequest): Answer | Promise<Answer> {
    const given = this.answers.get(`${request.method} ${request.path}`);
    if (given) return given(request);
    if (request.path === "/v1/inbox/session") {
      this.sessions += 1;
      const unreadCount = { total: 2, severity: { high: 1, medium: 0, low: 0, none: 1 } };
      return {
        status: 201,
        body: { data: { token: `token-${this.sessions}`, unreadCount, maxSnoozeDurationHours: 24 } },
      };
    }
    if (request.path === "/v1/inbox/notifications/count") {
      const filters = JSON.parse(request.query.get("filters") ?? "[]");
      return { body: { data: filters.map((filter: object) => ({ count: 1, filter })) } };
    }
    if (request.path === "/v1/inbox/notifications") return { body: { data: [], hasMore: false } };
    return {};
  }

  #upgrade(message: IncomingMessage, socket: Duplex): void {
    const { pathname, searchParams } = new URL(message.url ?? "", this.address);
    this.requests.push({
      method: "SOCKET",
      path: pathname,
      query: searchParams,
      token: searchParams.get("token") ?? undefined,
      body: undefined,
    });
    const key = `${message.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`);
    socket.write(`Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
    socket.on("error", () => {});
    this.sockets.push(socket);
  }
}

async function read(message: IncomingMessage): Promise<SeenRequest> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  const text = Buffer.concat(parts).toString();
  const url = new URL(message.url ?? "", "http://localhost");
  return {
    method: message.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    token: message.headers.authorization?.replace("Bearer ", ""),
    body: text ? JSON.parse(text) : undefined,
  };
}
