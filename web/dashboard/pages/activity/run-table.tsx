import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { currentEntry, findKept } from "../../../api/entries.ts";
import type { components } from "../../../api/schema.d.ts";
import { useKey } from "../../../ui/keys.ts";
import { Status, type Tone } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { RunStatus } from "../../parts/run-status.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/activity.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { MAX_ROWS, type Run } from "./model.ts";

type JobStatus = components["schemas"]["JobStatus"];

const STEP_TONES: Record<JobStatus, Tone> = {
  pending: "plain",
  queued: "wait",
  running: "wait",
  delayed: "wait",
  completed: "good",
  merged: "good",
  failed: "bad",
  canceled: "plain",
  skipped: "plain",
};

/** Of a row without any wrapped text, in pixels. */
const ROW_HEIGHT = 36;
/** Rows that are drawn in one go. */
const PORTION = 25;
/** Rows below the window that are drawn too, for those who begin to scroll. */
const MARGIN = 5;

type RunTableProps = {
  rows: readonly Run[];
  /** Draw only what fits into the window: the others would be replaced before anybody scrolls to them. */
  isHurried: boolean;
  /** Whether a row has the focus: the list should not move then. */
  onFocusChange: (hasFocus: boolean) => void;
};

/** Runs, newest first; a row opens its run, j and k move between rows. */
export function RunTable({ rows, isHurried, onFocusChange }: RunTableProps) {
  const element = useRef<HTMLDivElement>(null);
  const drawn = useDrawn(element, rows.length, isHurried);
  const shown = rows.slice(0, drawn.count);
  const columns = useRunColumns();
  const { route } = useLocation();
  useRowKeys(element);

  function open(event: MouseEvent) {
    const target = event.target as Element;
    const link = target.closest("tr")?.querySelector<HTMLAnchorElement>("a.activity-open");
    const isOther = target.closest("a, button") !== null || event.ctrlKey || event.metaKey || event.shiftKey;
    if (link && !isOther && getSelection()?.isCollapsed !== false) {
      route(link.pathname);
    }
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: each row has a link for the keyboard
    // biome-ignore lint/a11y/useKeyWithClickEvents: each row has a link for the keyboard
    <div
      ref={element}
      class="activity-runs"
      onClick={open}
      onFocusIn={() => onFocusChange(true)}
      onFocusOut={() => onFocusChange(false)}
    >
      <Table label={texts.runs} columns={columns} rows={shown} rowKey={(run) => run._id} />
      {shown.length < rows.length && <div style={{ height: `${(rows.length - shown.length) * drawn.rowHeight}px` }} />}
    </div>
  );
}

/** How many rows to draw now: a few at a time, so that the page answers people in between. */
function useDrawn(element: RefObject<HTMLDivElement>, length: number, isHurried: boolean) {
  const [grown, setGrown] = useState(firstPortion);
  const rowHeight = useMemo(() => element.current?.querySelector("tbody tr")?.clientHeight || ROW_HEIGHT, [isHurried]);
  useEffect(() => {
    if (isHurried) {
      setGrown(PORTION);
    } else if (grown < length) {
      const timer = setTimeout(() => setGrown(grown + PORTION));
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [grown, length, isHurried]);
  if (!isHurried) {
    return { count: grown, rowHeight };
  }
  const top = Math.max(0, element.current?.getBoundingClientRect().top ?? 0);
  return { count: Math.ceil((innerHeight - top) / rowHeight) + MARGIN, rowHeight };
}

/** Those who come back to a place further down find it at once; others need the first rows only. */
function firstPortion(): number {
  const isScrolled = findKept<number>(currentEntry().id, "scroll") ?? 0;
  return isScrolled > 0 ? MAX_ROWS : PORTION;
}

/** Columns that stay the same as long as the environment does, so that rows are drawn once. */
function useRunColumns(): readonly Column<Run>[] {
  const address = useAddress();
  const root = address("");
  return useMemo(
    () => [
      { name: "when", title: texts.columns.when, show: (run: Run) => <OpenLink run={run} root={root} /> },
      { name: "person", title: texts.columns.person, show: (run: Run) => <Person run={run} root={root} /> },
      {
        name: "workflow",
        title: texts.columns.workflow,
        show: (run: Run) => (
          <a
            class="cut"
            href={`${root}/workflows/${encodeURIComponent(run.workflow.workflowId)}`}
            title={run.workflow.name}
          >
            <bdi>{run.workflow.name}</bdi>
          </a>
        ),
      },
      { name: "steps", title: texts.columns.steps, show: (run: Run) => <Steps steps={run.steps} /> },
      { name: "status", title: texts.columns.status, show: (run: Run) => <StatusCell run={run} /> },
    ],
    [root],
  );
}

function OpenLink({ run, root }: { run: Run; root: string }) {
  return (
    <a class="activity-open" href={`${root}/activity/${run._id}`}>
      <Time at={run.createdAt} isClock />
    </a>
  );
}

function Person({ run, root }: { run: Run; root: string }) {
  const { subscriberId, name } = run.subscriber;
  return (
    <a class="cut" href={`${root}/subscribers/${encodeURIComponent(subscriberId)}`} title={subscriberId}>
      <bdi>{name || subscriberId}</bdi>
    </a>
  );
}

function Steps({ steps }: { steps: Run["steps"] }) {
  if (steps.length === 0) {
    return <span class="small quiet">{texts.noSteps}</span>;
  }
  return (
    <ul class="activity-steps">
      {steps.map((step, index) => (
        <li key={index} title={step.providerId && texts.through(step.providerId)}>
          <Status tone={STEP_TONES[step.status]}>
            {runTexts.stepTypes[step.type]}
            <span class="visually-hidden">: {texts.stepStatuses[step.status]}</span>
          </Status>
        </li>
      ))}
    </ul>
  );
}

function StatusCell({ run }: { run: Run }) {
  return (
    <>
      <RunStatus status={run.status} />
      {run.waitingUntil && (
        <span class="activity-until small quiet" title={run.waitingFor && texts.waiting[run.waitingFor]}>
          {texts.until} <Time at={run.waitingUntil} isClock />
        </span>
      )}
    </>
  );
}

function useRowKeys(element: RefObject<HTMLDivElement>): void {
  function move(step: number) {
    const links = [...(element.current?.querySelectorAll<HTMLElement>("a.activity-open") ?? [])];
    const row = document.activeElement?.closest("tr");
    const now = row ? links.findIndex((link) => row.contains(link)) : -1;
    links[now < 0 ? 0 : Math.max(0, Math.min(links.length - 1, now + step))]?.focus();
  }
  useKey("j", () => move(1));
  useKey("k", () => move(-1));
}
