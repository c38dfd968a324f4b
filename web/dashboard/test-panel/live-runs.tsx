import { useEffect, useState } from "preact/hooks";
import { api, dataOf } from "../../api/client.ts";
import { listen } from "../../api/event-stream.ts";
import type { components } from "../../api/schema.d.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { RunStatus, StepStatus } from "../parts/run-status.tsx";
import { useAddress, useCan } from "../session.ts";
import { texts as runTexts } from "../texts/runs.ts";
import { texts } from "../texts/test-panel.ts";
import { areFinished, withRun } from "./model.ts";

type Run = components["schemas"]["Run"];

/** The runs of a transaction as they go on, until they have ended. */
export function LiveRuns({ transactionId }: { transactionId: string }) {
  const canFollow = useCan("events:read");
  const { runs, isConnected } = useRuns(transactionId, canFollow);
  return (
    <div class="stack" role="status">
      <p>
        {texts.triggered} <span class="small quiet">{texts.transaction}</span> <code>{transactionId}</code>
      </p>
      {canFollow && runs.length === 0 && (
        <>
          <p class="quiet">{texts.waitingForRun}</p>
          <Loading lines={1} />
        </>
      )}
      {!isConnected && <p class="small quiet">{texts.connecting}</p>}
      {runs.map((run) => (
        <LiveRun key={run._id} run={run} />
      ))}
    </div>
  );
}

function LiveRun({ run }: { run: Run }) {
  const address = useAddress();
  return (
    <div class="panel stack">
      <div class="row spread">
        <span class="row">
          <RunStatus status={run.status} />
          {run.waitingUntil && (
            <span class="small quiet">
              {texts.waitsUntil} <Time at={run.waitingUntil} />
            </span>
          )}
        </span>
        <ButtonLink href={address(`/activity/${run._id}`)}>{texts.openRun}</ButtonLink>
      </div>
      <ol class="test-steps" aria-label={texts.steps}>
        {run.steps.map((step, place) => (
          <li key={place}>
            {runTexts.stepTypes[step.type]} <StepStatus status={step.status} />
            {step.providerId && <span class="small quiet">{step.providerId}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

function useRuns(transactionId: string, canFollow: boolean): { runs: readonly Run[]; isConnected: boolean } {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const [isConnected, setConnected] = useState(true);
  const isDone = areFinished(runs);
  useEffect(() => {
    if (!canFollow || isDone) {
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const note = (run: Run) => setRuns((known) => withRun(known, run));
    async function catchUp() {
      const query = { transactionId: [transactionId] };
      const found = dataOf(await api.GET("/v1/runs", { params: { query }, signal }));
      found.data.forEach(note);
    }
    const listener = {
      onEvent: ({ name, data }: { name: string; data: unknown }) => name === "run" && note(data as Run),
      onState: (isOpen: boolean) => {
        setConnected(isOpen || signal.aborted);
        if (isOpen) {
          // What happened before the stream was open is not sent.
          catchUp().catch(() => {});
        }
      },
    };
    const path = `/v1/runs/stream?transactionId=${encodeURIComponent(transactionId)}`;
    listen(path, listener, signal).catch(() => setConnected(false));
    return () => controller.abort();
  }, [transactionId, canFollow, isDone]);
  return { runs, isConnected };
}
