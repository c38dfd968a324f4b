/** Loads the list, listens to the stream, and passes on a list that is up to date a few times a second. */
import { listen, type StreamEvent } from "../../../api/event-stream.ts";
import {
  appendPage,
  applyRuns,
  type Missed,
  type Run,
  type RunPage,
  refreshHead,
  release,
  startTail,
  type Tail,
} from "./model.ts";

/** The stream sends runs twice a second; those that come together are shown together. */
const FLUSH_PAUSE = 100;
/** More at once than anybody can read. */
const MANY = 20;
/** How long the list counts as busy after many runs came at once. */
const BUSY_FOR = 2000;
/** A queue beyond this is longer than the list: its oldest runs would not be seen. */
const MAX_QUEUE = 1000;

export type Connection = "off" | "connecting" | "live" | "lost";

export type FeedState = {
  tail: Tail | null;
  error: unknown;
  isLoading: boolean;
  connection: Connection;
  streamError: unknown;
  /** Runs come faster than anybody can read. */
  isBusy: boolean;
};

export const FIRST_STATE: FeedState = {
  tail: null,
  error: null,
  isLoading: true,
  connection: "off",
  streamError: null,
  isBusy: false,
};

/** A list that was left: what it showed, and the last position of its stream. */
export type LeftFeed = { tail: Tail; position: string };

/** The state of a list that is shown again. */
export function stateOf(left: LeftFeed | undefined): FeedState {
  return left ? { ...FIRST_STATE, tail: left.tail, isLoading: false } : FIRST_STATE;
}

type Source = {
  loadPage: (cursor: string | null, signal: AbortSignal) => Promise<RunPage>;
  /** The address of the stream; null if what is shown does not change. */
  stream: string | null;
  /** The list to go on with; without it, one is loaded. */
  left: LeftFeed | undefined;
  onState: (state: FeedState) => void;
};

export class Feed {
  /** How many events came, for those who want to know whether anything happened. */
  events = 0;
  private state: FeedState;
  private readonly queue: Run[] = [];
  private readonly stopping = new AbortController();
  private readonly source: Source;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private calming: ReturnType<typeof setTimeout> | undefined;
  private isHeld = false;
  /** Whether the list goes on to where the stream begins. */
  private hasJoined: boolean;
  private position: string;
  /** Whether the stream has sent what happened since the list was left. */
  private isBack: boolean;

  constructor(source: Source) {
    this.source = source;
    this.state = stateOf(source.left);
    this.position = source.left?.position ?? "";
    this.hasJoined = this.position !== "";
    this.isBack = !this.hasJoined;
  }

  start(): void {
    this.change({});
    if (!this.state.tail) {
      void this.load();
    } else if (!this.hasJoined) {
      void this.loadAgain(this.state.tail);
    }
    if (this.source.stream !== null) {
      this.change({ connection: "connecting" });
      void this.follow(this.source.stream);
    }
  }

  /** Stop, and return what is needed to go on; nothing before there is a list. */
  stop(): LeftFeed | undefined {
    clearTimeout(this.timer);
    this.flush();
    this.stopping.abort();
    clearTimeout(this.calming);
    return this.state.tail ? { tail: this.state.tail, position: this.position } : undefined;
  }

  /** While the list is held, new runs wait; afterwards they are shown. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    if (!isHeld && this.state.tail?.held.length) {
      this.change({ tail: release(this.state.tail) });
    }
  }

  /** Load the list from its head. */
  async load(): Promise<void> {
    await this.attempt(async (signal) => {
      const page = await this.source.loadPage(null, signal);
      this.change({ tail: startTail(page) });
      this.schedule();
    });
  }

  /** Load all that is shown; if that fails, it stays as it is. */
  private async loadAgain(shown: Tail): Promise<void> {
    const { signal } = this.stopping;
    try {
      let tail = startTail(await this.source.loadPage(null, signal));
      while (tail.next !== null && tail.rows.length < shown.rows.length) {
        tail = appendPage(tail, await this.source.loadPage(tail.next, signal));
      }
      this.change({ tail });
    } catch {
      // Those who want to know reload the list.
    }
  }

  async loadMore(): Promise<void> {
    const cursor = this.state.tail?.next;
    if (!cursor || this.state.isLoading) {
      return;
    }
    await this.attempt(async (signal) => {
      const page = await this.source.loadPage(cursor, signal);
      // Runs that appeared meanwhile may have moved the end of the list.
      const { tail } = this.state;
      if (tail) {
        this.change({ tail: appendPage(tail, page) });
      }
    });
  }

  /** Look at the head of the list again, without a word if that fails: the next look will do. */
  async refresh(): Promise<void> {
    const { tail } = this.state;
    if (this.isHeld || !tail) {
      return;
    }
    const newest = tail.rows[0]?._id ?? "";
    const page = await this.source.loadPage(null, this.stopping.signal).catch(() => null);
    if (page && this.state.tail && !this.isHeld && !this.stopping.signal.aborted) {
      this.change({ tail: refreshHead(this.state.tail, page, newest) });
    }
  }

  private async attempt(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.stopping;
    this.change({ error: null, isLoading: true });
    try {
      await work(signal);
      this.change({ isLoading: false });
    } catch (error) {
      this.change({ error, isLoading: false });
    }
  }

  private async follow(path: string): Promise<void> {
    const onState = (isConnected: boolean) => this.change({ connection: isConnected ? "live" : "lost" });
    try {
      const onEvent = (event: StreamEvent) => this.take(event);
      await listen(path, { onEvent, onState }, this.stopping.signal, this.position);
    } catch (streamError) {
      this.change({ connection: "off", streamError });
    }
  }

  private take({ id, name, data }: StreamEvent): void {
    this.position = id || this.position;
    if (name === "position") {
      this.isBack = true;
      this.join();
      return;
    }
    this.events += 1;
    const { tail } = this.state;
    if (name === "run") {
      this.queue.push(data as Run);
      this.schedule();
    } else if (name === "sampled" && tail) {
      this.change({ tail: { ...tail, leftOut: tail.leftOut + (data as { leftOut: number }).leftOut } });
    } else if (name === "missed" && !this.isBack && !this.isHeld) {
      void this.load();
    } else if (name === "missed" && tail) {
      this.change({ tail: { ...tail, missed: data as Missed } });
    }
  }

  /** Between the first page and the beginning of the stream is a moment, in which runs may have begun. */
  private join(): void {
    if (!this.hasJoined) {
      this.hasJoined = true;
      void this.refresh();
    }
  }

  private schedule(): void {
    if (this.timer === undefined && this.queue.length > 0) {
      this.timer = setTimeout(() => this.flush(), FLUSH_PAUSE);
    }
  }

  private flush(): void {
    this.timer = undefined;
    if (!this.state.tail) {
      return;
    }
    const runs = this.queue.splice(0).slice(-MAX_QUEUE);
    if (runs.length > MANY) {
      clearTimeout(this.calming);
      this.calming = setTimeout(() => this.change({ isBusy: false }), BUSY_FOR);
    }
    this.change({
      tail: applyRuns(this.state.tail, runs, { isHeld: this.isHeld }),
      isBusy: this.state.isBusy || runs.length > MANY,
    });
  }

  private change(changes: Partial<FeedState>): void {
    if (!this.stopping.signal.aborted) {
      this.state = { ...this.state, ...changes };
      this.source.onState(this.state);
    }
  }
}
