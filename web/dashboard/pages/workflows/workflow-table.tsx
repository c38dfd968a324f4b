import type { Loaded } from "../../../api/loaded.ts";
import { numberText, percentText } from "../../../ui/formats.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Status } from "../../../ui/status.tsx";
import { actionsColumn, type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { RunStatus } from "../../parts/run-status.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as stepTexts } from "../../texts/steps.ts";
import { texts } from "../../texts/workflows.ts";
import type { StepKind } from "../workflow/model.ts";
import { type Activity, countProblems, type ListedWorkflow, totalsOf } from "./model.ts";
import { WorkflowActions } from "./workflow-actions.tsx";

type WorkflowTableProps = {
  rows: readonly ListedWorkflow[];
  activity: Loaded<Map<string, Activity>>;
  onChanged: () => void;
};

export function WorkflowTable({ rows, activity, onChanged }: WorkflowTableProps) {
  const canWrite = useCan("workflows:write");
  const find = (row: ListedWorkflow) => activity.data?.get(row.workflowId);
  const { columns: titles } = texts;
  const columns: Column<ListedWorkflow>[] = [
    { name: "name", title: titles.name, show: (row: ListedWorkflow) => <WorkflowName workflow={row} /> },
    { name: "state", title: titles.state, show: (row: ListedWorkflow) => <WorkflowState workflow={row} /> },
    { name: "steps", title: titles.steps, show: (row: ListedWorkflow) => <StepMarks workflow={row} /> },
    { name: "lastRun", title: titles.lastRun, show: (row: ListedWorkflow) => <LastRun activity={find(row)} /> },
    ...(["sent", "failed", "read"] as const).map((name) => ({
      name,
      title: titles[name],
      kind: "number" as const,
      show: (row: ListedWorkflow) => <Figure activity={find(row)} name={name} />,
    })),
    ...actionsColumn(
      canWrite &&
        ((row: ListedWorkflow) => (
          <WorkflowActions
            workflow={{ workflowId: row.workflowId, name: row.name, isActive: row.status !== "INACTIVE" }}
            onChanged={onChanged}
          />
        )),
    ),
  ];
  return (
    <div class="workflows-table">
      {activity.error !== undefined && <Problem error={activity.error} onRetry={activity.reload} />}
      <Table label={texts.title} columns={columns} rows={rows} rowKey={(row) => row._id} />
    </div>
  );
}

function WorkflowName({ workflow }: { workflow: ListedWorkflow }) {
  const address = useAddress();
  return (
    <div class="workflows-name">
      <a href={address(`/workflows/${encodeURIComponent(workflow.workflowId)}`)}>
        <bdi>{workflow.name}</bdi>
      </a>
      <span class="workflows-tags">
        <code class="quiet">{workflow.workflowId}</code>
        {workflow.tags.map((tag) => (
          <bdi key={tag} class="workflows-tag">
            {tag}
          </bdi>
        ))}
      </span>
    </div>
  );
}

function WorkflowState({ workflow }: { workflow: ListedWorkflow }) {
  const problems = countProblems(workflow);
  return (
    <span class="row">
      {workflow.status === "INACTIVE" ? (
        <Status tone="plain">{texts.inactive}</Status>
      ) : (
        problems === 0 && <Status tone="good">{texts.active}</Status>
      )}
      {problems > 0 && <Status tone="warn">{texts.withProblems(problems)}</Status>}
    </span>
  );
}

function StepMarks({ workflow }: { workflow: ListedWorkflow }) {
  const types = workflow.stepTypeOverviews;
  if (types.length === 0) {
    return <span class="quiet">{texts.noSteps}</span>;
  }
  const names = types.map((type) => runTexts.stepTypes[type]).join(", ");
  return (
    <span title={names}>
      <span class="visually-hidden">{names}</span>
      <span class="workflows-marks" aria-hidden="true">
        {types.map((type, index) => (
          <span key={index}>{stepTexts.marks[type as StepKind]}</span>
        ))}
      </span>
    </span>
  );
}

function LastRun({ activity }: { activity: Activity | undefined }) {
  const address = useAddress();
  if (!activity) {
    return <span class="quiet">{texts.nothing}</span>;
  }
  if (!activity.lastRun) {
    return <span class="quiet">{texts.neverRan}</span>;
  }
  return (
    <span class="workflows-last">
      <a href={address(`/activity/${activity.lastRun._id}`)}>
        <Time at={activity.lastRun.createdAt} />
      </a>
      <RunStatus status={activity.lastRun.status} />
    </span>
  );
}

function Figure({ activity, name }: { activity: Activity | undefined; name: "sent" | "failed" | "read" }) {
  const totals = activity && totalsOf(activity);
  if (!totals || activity.runs === 0) {
    return <span class="quiet">{texts.nothing}</span>;
  }
  const whole = name === "failed" ? totals.sent + totals.failed : totals.sent;
  const number = numberText(totals[name]);
  return (
    <span class="workflows-figure" title={activity.estimated ? texts.estimated : undefined}>
      {activity.estimated && "≈ "}
      {number}
      {name !== "sent" && whole > 0 && <span class="small quiet"> {percentText(totals[name] / whole)}</span>}
    </span>
  );
}
