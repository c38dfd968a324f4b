// The inbox of one person without a user interface: session, lists, counts, actions, preferences and real time.

import { Emitter } from "./emitter.ts";
import { ReadQueue } from "./queue.ts";
import {
  type ActionKind,
  type Channels,
  type Counts,
  type Filter,
  type Notification,
  notificationOf,
  type Page,
  type PageOptions,
  type Preference,
  type PushedMessage,
  type Schedule,
  type Session,
} from "./shapes.ts";
import { Socket } from "./socket.ts";

const REQUEST_TIMEOUT = 30_000;
const ATTEMPTS_UNTIL_POLLING = 3;

export interface ClientOptions {
  /** Address of the API, such as `https://notify.example.com`. */
  server: string;
  applicationIdentifier: string;
  subscriberId: string;
  subscriberHash?: string;
  context?: Record<string, unknown>;
  contextHash?: string;
}

export interface ClientEvents {
  session: Session;
  /** The unread counts, whenever they may have changed. */
  counts: Counts;
  received: Notification;
  updated: Notification;
  removed: string;
  /** The connection came back: the newest notifications, among them those that arrived in between. */
  caughtUp: Page;
  /** Whether real time is connected. */
  connected: boolean;
}

/** A refusal, with the server's own sentence; status 0 means that the server could not be reached. */
export class InboxError extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(message: string, status: number, body?: unknown) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

export class InboxClient extends Emitter<ClientEvents> {
  readonly options: ClientOptions;
  readonly #queue: ReadQueue;
  readonly #socket: Socket;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  #lastChange: Promise<unknown> = Promise.resolve();
  #isStopped = false;
  #isLate = false;
  #isConnected = false;

  constructor(options: ClientOptions) {
    super();
    const server = options.server.replace(/\/+$/, "");
    this.options = { ...options, server };
    this.#queue = new ReadQueue(`clarion-reads:${server}:${options.applicationIdentifier}:${options.subscriberId}`);
    this.#socket = new Socket(
      () => `${server.replace(/^http/, "ws")}/ws?token=${encodeURIComponent(this.#session?.token ?? "")}`,
      {
        opened: () => this.#connect(),
        closed: (attempts) => this.#disconnect(attempts),
        event: (name, data) => this.#receive(name, data),
      },
    );
  }

  /** Begins the session and connects real time. */
  async start(): Promise<Session> {
    this.#isStopped = false;
    const session = await this.#begin();
    if (this.#isStopped) return session;
    globalThis.addEventListener?.("online", this.#online);
    this.#socket.open();
    void this.sendQueuedReads();
    return session;
  }

  stop(): void {
    this.#isStopped = true;
    globalThis.removeEventListener?.("online", this.#online);
    this.#socket.close();
    this.#session = undefined;
  }

  // Lists and counts

  async list(options: PageOptions = {}): Promise<Page> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(options)) {
      if (Array.isArray(value)) for (const one of value) query.append(`${name}[]`, one);
      else if (value !== undefined) query.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
    }
    return this.#send<Page>("GET", `notifications?${query}`);
  }

  /** How many notifications match each filter, at most 100 each. */
  async count(filters: Filter[]): Promise<number[]> {
    const query = encodeURIComponent(JSON.stringify(filters));
    const { data } = await this.#send<{ data: { count: number }[] }>("GET", `notifications/count?filters=${query}`);
    return data.map((one) => one.count);
  }

  /** Fetches the unread counts and emits them. */
  async refreshCounts(): Promise<Counts> {
    const severities = ["high", "medium", "low", "none"] as const;
    const found = await this.count(
      severities.map((severity) => ({ read: false, archived: false, snoozed: false, severity })),
    );
    const [high = 0, medium = 0, low = 0, none = 0] = found;
    const counts = { total: high + medium + low + none, severity: { high, medium, low, none } };
    this.emit("counts", counts);
    return counts;
  }

  // Actions on one notification

  /** Marks it read; returns null if that is queued because the server cannot be reached. */
  async read(id: string): Promise<Notification | null> {
    try {
      const notification = await this.#change(id, "read");
      this.#queue.remove(id);
      return notification;
    } catch (error) {
      if (!canBeRepeated(error)) throw error;
      this.#queue.add(id);
      return null;
    }
  }

  unread(id: string): Promise<Notification> {
    this.#queue.remove(id);
    return this.#change(id, "unread");
  }

  archive(id: string): Promise<Notification> {
    return this.#change(id, "archive");
  }

  unarchive(id: string): Promise<Notification> {
    return this.#change(id, "unarchive");
  }

  snooze(id: string, until: Date): Promise<Notification> {
    return this.#change(id, "snooze", { snoozeUntil: until.toISOString() });
  }

  unsnooze(id: string): Promise<Notification> {
    return this.#change(id, "unsnooze");
  }

  complete(id: string, actionType: ActionKind): Promise<Notification> {
    return this.#change(id, "complete", { actionType });
  }

  revert(id: string, actionType: ActionKind): Promise<Notification> {
    return this.#change(id, "revert", { actionType });
  }

  async delete(id: string): Promise<void> {
    await this.#sendInOrder("DELETE", `notifications/${encodeURIComponent(id)}/delete`);
  }

  // Actions on all that match

  readAll(filter: Pick<Filter, "tags" | "data"> = {}): Promise<void> {
    return this.#changeAll("read", filter);
  }

  archiveAll(filter: Pick<Filter, "tags" | "data"> = {}): Promise<void> {
    return this.#changeAll("archive", filter);
  }

  archiveRead(filter: Pick<Filter, "tags" | "data"> = {}): Promise<void> {
    return this.#changeAll("read-archive", filter);
  }

  deleteAll(filter: Pick<Filter, "tags" | "data"> = {}): Promise<void> {
    return this.#changeAll("delete", filter);
  }

  async seen(notificationIds: string[]): Promise<void> {
    await this.#send("POST", "notifications/seen", { notificationIds });
  }

  // Preferences

  /** The preferences of the person; the first one is for all workflows. */
  async preferences(criticality: "all" | "critical" | "nonCritical" = "nonCritical"): Promise<Preference[]> {
    return (await this.#send<{ data: Preference[] }>("GET", `preferences?criticality=${criticality}`)).data;
  }

  /** Changes channels of one workflow, or of all. */
  async updatePreference(channels: Channels, workflowId?: string): Promise<Preference> {
    const path = workflowId === undefined ? "preferences" : `preferences/${encodeURIComponent(workflowId)}`;
    return (await this.#send<{ data: Preference }>("PATCH", path, channels)).data;
  }

  async updateSchedule(schedule: Schedule): Promise<Preference> {
    return (await this.#send<{ data: Preference }>("PATCH", "preferences", { schedule })).data;
  }

  /** Sends the reads that were made while the server could not be reached. */
  async sendQueuedReads(): Promise<void> {
    for (const id of this.#queue.list()) {
      try {
        await this.#change(id, "read");
      } catch (error) {
        if (canBeRepeated(error)) return;
        // It does not exist any more, or never will be accepted.
      }
      this.#queue.remove(id);
    }
  }

  // Requests

  async #change(id: string, action: string, body?: object): Promise<Notification> {
    const path = `notifications/${encodeURIComponent(id)}/${action}`;
    return (await this.#sendInOrder<{ data: Notification }>("PATCH", path, body)).data;
  }

  async #changeAll(action: string, { tags = [], data }: Filter): Promise<void> {
    await this.#sendInOrder("POST", `notifications/${action}`, data ? { tags, data: JSON.stringify(data) } : { tags });
  }

  /** Sends a change after those before it: "archive what is read" must find what was marked read just now. */
  async #sendInOrder<T>(method: string, path: string, body?: object): Promise<T> {
    const sending = this.#lastChange.then(() => this.#send<T>(method, path, body));
    this.#lastChange = sending.catch(() => {});
    const answer = await sending;
    this.#changed();
    return answer;
  }

  /** Real time tells the new counts; without it they are fetched. */
  #changed(): void {
    if (!this.#isConnected) void this.refreshCounts().catch(() => {});
  }

  async #send<T>(method: string, path: string, body?: object): Promise<T> {
    const session = this.#session ?? (await this.#begin());
    try {
      return await this.#fetch<T>(method, path, body, session.token);
    } catch (error) {
      if (!(error instanceof InboxError) || error.status !== 401) throw error;
    }
    // The session is over: one new one is tried.
    if (this.#session === session) this.#session = undefined;
    return this.#fetch<T>(method, path, body, (await this.#begin()).token);
  }

  #begin(): Promise<Session> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<Session> {
    const { applicationIdentifier, subscriberId, subscriberHash, context, contextHash } = this.options;
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const body = {
      applicationIdentifier,
      subscriber: { subscriberId, timezone: timeZone },
      subscriberHash,
      context,
      contextHash,
    };
    const { data } = await this.#fetch<{ data: Session }>("POST", "session", body);
    this.#session = data;
    this.emit("session", data);
    this.emit("counts", data.unreadCount);
    return data;
  }

  async #fetch<T>(method: string, path: string, body?: object, token?: string): Promise<T> {
    const headers: Record<string, string> = {};
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = "application/json";
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${this.options.server}/v1/inbox/${path}`, {
        method,
        headers,
        body: body ? JSON.stringify(body) : null,
        credentials: "omit",
        // A change still arrives if the page is left at once, as by a click on a link.
        keepalive: method !== "GET",
        signal: AbortSignal.timeout(REQUEST_TIMEOUT),
      });
      text = await response.text();
    } catch (cause) {
      throw new InboxError(`The server could not be reached: ${(cause as Error).message}`, 0);
    }
    const answer = parse(text);
    if (response.ok) return answer as T;
    throw new InboxError(
      sentenceOf(answer) ?? `The server answered with status ${response.status}`,
      response.status,
      answer,
    );
  }

  // Real time

  readonly #online = (): void => {
    this.#socket.open();
    void this.sendQueuedReads();
  };

  #connect(): void {
    this.#isConnected = true;
    this.emit("connected", true);
    if (this.#isLate) void this.#catchUp();
    this.#isLate = false;
  }

  #disconnect(attempts: number): void {
    this.#isLate = true;
    if (this.#isConnected) this.emit("connected", false);
    this.#isConnected = false;
    // Something between here and the server may forbid websockets: then every attempt fetches the news instead.
    // That also renews a session that is over.
    if (attempts >= ATTEMPTS_UNTIL_POLLING) void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    try {
      await this.sendQueuedReads();
      const [page] = await Promise.all([
        this.list({ archived: false, snoozed: false, limit: 10 }),
        this.refreshCounts(),
      ]);
      this.emit("caughtUp", page);
    } catch {
      // The next connection catches up.
      this.#isLate = true;
    }
  }

  #receive(name: string, data: unknown): void {
    if (name === "notification_received") {
      this.emit("received", notificationOf((data as { message: PushedMessage }).message));
    } else if (name === "notification_updated") {
      this.emit("updated", notificationOf((data as { message: PushedMessage }).message));
    } else if (name === "notification_removed") {
      this.emit("removed", (data as { messageId: string }).messageId);
    } else if (name === "unread_count_changed") {
      this.emit("counts", (data as { counts: Counts }).counts);
    }
  }
}

function canBeRepeated(error: unknown): boolean {
  return error instanceof InboxError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The sentences about single fields say more than the one about the whole request. */
function sentenceOf(answer: unknown): string | undefined {
  const { message, errors } = (answer ?? {}) as { message?: string; errors?: Record<string, { messages?: string[] }> };
  const fields = Object.entries(errors ?? {}).map(([name, { messages }]) => `${name} ${messages?.join(", ")}`);
  return fields.length ? fields.join("; ") : message;
}
