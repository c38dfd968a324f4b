import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { numberText } from "../../../ui/formats.ts";
import { Problem } from "../../../ui/problem.tsx";
import { type Column, Cut, Table } from "../../../ui/table.tsx";
import type { Span } from "../../parts/calls/range.ts";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/usage.ts";
import { groupMails, type MailGroup } from "./model.ts";

/** How many e-mails of each workflow were opened, clicked and replied to; nothing if none was. */
export function MailUsage({ span }: { span: Span }) {
  const address = useAddress();
  const usage = useLoaded(`mail usage ${span.after} ${span.before}`, async (signal) =>
    dataOf(await api.GET("/v1/usage/emails", { params: { query: span }, signal })),
  );
  if (usage.error) {
    return <Problem error={usage.error} onRetry={usage.reload} />;
  }
  const groups = groupMails(usage.data?.data ?? []);
  if (groups.length === 0) {
    return null;
  }
  const columns: Column<MailGroup>[] = [
    {
      name: "workflow",
      title: texts.workflow,
      show: ({ name, workflowId }) =>
        workflowId === undefined ? (
          <Cut text={texts.deleted(name)} />
        ) : (
          <a href={address(`/workflows/${encodeURIComponent(workflowId)}`)}>
            <Cut text={name} />
          </a>
        ),
    },
    { name: "opened", title: texts.opened, kind: "number", show: (one) => numberText(one.opened) },
    { name: "clicked", title: texts.clicked, kind: "number", show: (one) => numberText(one.clicked) },
    { name: "replied", title: texts.replied, kind: "number", show: (one) => numberText(one.replied) },
  ];
  return (
    <section class="stack" aria-labelledby="mail-usage">
      <h2 id="mail-usage">{texts.mails}</h2>
      <p class="small quiet">{texts.mailsHint}</p>
      <Table label={texts.mails} columns={columns} rows={groups} rowKey={(one) => one._workflowId} />
    </section>
  );
}
