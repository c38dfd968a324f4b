/** An import under way: batch after batch, until it is paused, canceled or done. */
import { useEffect, useRef, useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import type { Line, LineProblem, SubscriberIn } from "./model.ts";
import { BATCH, sendBatch } from "./sender.ts";

export type ImportState = {
  status: "running" | "paused" | "failed" | "canceled" | "done";
  /** How many lines have been answered. */
  done: number;
  created: number;
  updated: number;
  refused: readonly LineProblem[];
  error: unknown;
};

const BEGIN: ImportState = { status: "running", done: 0, created: 0, updated: 0, refused: [], error: null };

export function useImport(lines: readonly Line[]): ImportState & { set: (status: ImportState["status"]) => void } {
  const [state, setState] = useState(BEGIN);
  const isSending = useRef(false);

  // One batch at a time: the next begins when the state has the answer to the last, so that pausing takes effect.
  useEffect(() => {
    if (state.status !== "running" || isSending.current) {
      return;
    }
    const batch = lines.slice(state.done, state.done + BATCH);
    if (batch.length === 0) {
      setState((now) => ({ ...now, status: "done" }));
      return;
    }
    isSending.current = true;
    void sendBatch(batch, send)
      .then(
        (result) => (now: ImportState) => add(now, batch.length, result),
        (error) => (now: ImportState) => fail(now, error),
      )
      .then((change) => {
        isSending.current = false;
        setState(change);
      });
  }, [state.status, state.done, lines]);

  const set = (status: ImportState["status"]) => setState((now) => ({ ...now, status, error: null }));
  return { ...state, set };
}

async function send(subscribers: SubscriberIn[]) {
  return dataOf(await api.POST("/v1/subscribers/bulk", { body: { subscribers } }));
}

function add(state: ImportState, count: number, result: Awaited<ReturnType<typeof sendBatch>>): ImportState {
  return {
    ...state,
    done: state.done + count,
    created: state.created + result.created,
    updated: state.updated + result.updated,
    refused: [...state.refused, ...result.refused],
  };
}

function fail(state: ImportState, error: unknown): ImportState {
  return state.status === "canceled" ? state : { ...state, status: "failed", error };
}
