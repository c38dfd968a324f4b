/** Loads a run, and again whenever something happens to it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { listen } from "../../../api/event-stream.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { hasEnded, type Job, type RunData, type RunEvent } from "./model.ts";

const MAX_MESSAGES = 100;
/** Steps can change without the run changing its status, which is all that the stream reports. */
const RELOAD_EVERY = 2000;

/** Whether the page hears of changes; `none` before the first connection, and after the end of the run. */
export type Connection = "none" | "open" | "lost";

export type FollowedRun = {
  data: RunData | undefined;
  error: unknown;
  connection: Connection;
  reload: () => void;
};

export function useRun(id: string, canReadMessages: boolean): FollowedRun {
  const loaded = useLoaded(`run ${id}`, (signal) => loadRun(id, canReadMessages, signal));
  const last = useRef<RunData>();
  if (loaded.data) {
    last.current = loaded.data;
  }
  // What was loaded stays while a reload fails, so that nothing that is opened closes.
  const data = last.current?.event._id === id ? last.current : undefined;
  const connection = useFollowing(data, loaded.reload);
  return { data, error: loaded.error, connection, reload: loaded.reload };
}

function useFollowing(data: RunData | undefined, reload: () => void): Connection {
  const [connection, setConnection] = useState<Connection>("none");
  const isOpen = data !== undefined && !hasEnded(data);
  const isMoving = isOpen && data.row?.status !== "waiting";
  const id = data?.event._id;
  const transactionId = data?.event.transactionId;
  const subscriberId = data?.event.subscriber.subscriberId;

  useEffect(() => {
    if (!isOpen || transactionId === undefined || subscriberId === undefined) {
      return;
    }
    const controller = new AbortController();
    const query = new URLSearchParams({ transactionId, subscriberId });
    const onEvent = ({ name, data: sent }: { name: string; data: unknown }) => {
      if (name === "missed" || (name === "run" && (sent as { _id: string })._id === id)) {
        reload();
      }
    };
    const onState = (connected: boolean) => {
      setConnection(connected ? "open" : "lost");
      if (connected) {
        reload();
      }
    };
    listen(`/v1/runs/stream?${query}`, { onEvent, onState }, controller.signal).catch(() => setConnection("lost"));
    return () => {
      controller.abort();
      setConnection("none");
    };
  }, [isOpen, id, transactionId, subscriberId, reload]);

  useEffect(() => {
    if (!isMoving) {
      return;
    }
    const timer = setInterval(() => document.visibilityState === "visible" && reload(), RELOAD_EVERY);
    return () => clearInterval(timer);
  }, [isMoving, reload]);

  return connection;
}

async function loadRun(id: string, canReadMessages: boolean, signal: AbortSignal): Promise<RunData> {
  const path = { notificationId: id };
  const event = dataOf(await api.GET("/v1/notifications/{notificationId}", { params: { path }, signal }));
  // After the event, so that nothing of them is older than its jobs.
  const [explanation, rows, messages, deadLetters] = await Promise.all([
    api.GET("/v1/notifications/{notificationId}/explain", { params: { path }, signal }).then(dataOf),
    loadRows(event, signal),
    canReadMessages ? loadMessages(event, signal) : { data: [], hasMore: false },
    event.jobs.some(canHaveDeadLetter) ? loadDeadLetters(event, signal) : [],
  ]);
  return {
    event,
    decisions: explanation.decisions,
    row: rows.find((row) => row._id === id),
    messages: messages.data.toReversed(),
    hasMoreMessages: messages.hasMore,
    deadLetters: deadLetters.filter((one) => one._notificationId === id),
    hasOthers: rows.some((row) => row._id !== id),
  };
}

/** A step that sent some of its messages is completed, and the others can be sent again. */
function canHaveDeadLetter(job: Job): boolean {
  return job.status === "failed" || job.executionDetails.some((detail) => detail.status === "Failed");
}

async function loadRows(event: RunEvent, signal: AbortSignal) {
  const transactionId = [event.transactionId];
  const list = async (query: { subscriberId?: string[]; limit: number }) =>
    dataOf(await api.GET("/v1/runs", { params: { query: { transactionId, ...query } }, signal })).data;
  const [own, some] = await Promise.all([
    list({ subscriberId: [event.subscriber.subscriberId], limit: 10 }),
    list({ limit: 2 }),
  ]);
  return [...own, ...some];
}

async function loadMessages(event: RunEvent, signal: AbortSignal) {
  const query = {
    transactionId: [event.transactionId],
    subscriberId: event.subscriber.subscriberId,
    limit: MAX_MESSAGES,
  };
  return dataOf(await api.GET("/v1/messages", { params: { query }, signal }));
}

async function loadDeadLetters(event: RunEvent, signal: AbortSignal) {
  const workflowId = event.template.triggers[0]?.identifier ?? "";
  const query = { subscriberId: event.subscriber.subscriberId, workflowId, limit: 100 };
  return dataOf(await api.GET("/v1/dead-letters", { params: { query }, signal })).data;
}
