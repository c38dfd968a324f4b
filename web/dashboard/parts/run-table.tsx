import type { components } from "../../api/schema.d.ts";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { useAddress } from "../session.ts";
import { texts as runs } from "../texts/runs.ts";
import { runTexts as texts } from "../texts/subscriber.ts";
import { RunStatus } from "./run-status.tsx";

type Run = components["schemas"]["Run"];

/** Recent runs in short, each with a link to all about it. */
export function RunTable({ rows, withPerson = false }: { rows: readonly Run[]; withPerson?: boolean }) {
  const address = useAddress();
  const columns = [
    {
      name: "when",
      title: texts.when,
      show: (run: Run) => (
        <a href={address(`/activity/${encodeURIComponent(run._id)}`)}>
          <Time at={run.createdAt} />
        </a>
      ),
    },
    { name: "workflow", title: texts.workflow, show: (run: Run) => <bdi>{run.workflow.name}</bdi> },
    ...(withPerson
      ? [
          {
            name: "person",
            title: texts.person,
            show: (run: Run) => <bdi>{run.subscriber.name || run.subscriber.subscriberId}</bdi>,
          },
        ]
      : []),
    { name: "status", title: texts.status, show: (run: Run) => <RunStatus status={run.status} /> },
    {
      name: "steps",
      title: texts.steps,
      show: (run: Run) => run.steps.map((step) => runs.stepTypes[step.type]).join(", "),
    },
    { name: "transaction", title: texts.transaction, show: (run: Run) => <code>{run.transactionId}</code> },
  ];
  return <Table label={texts.list} columns={columns} rows={rows} rowKey={(run) => run._id} />;
}
