import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Status } from "../../../ui/status.tsx";
import { actionsColumn, Table } from "../../../ui/table.tsx";
import { addressOf } from "../../addresses.ts";
import type { Environment } from "../../session.ts";
import { promotion as texts } from "../../texts/environments.ts";

type Synced = components["schemas"]["Synced"];

export type Published = { target: Environment; result: components["schemas"]["PublishResult"] };

/** What was published; each workflow can be taken back. */
export function Outcome({ published, onDone }: { published: Published; onDone: () => void }) {
  const { target, result } = published;
  const done = result.results.flatMap((one) => one.successful);
  const failed = result.results.flatMap((one) => [...one.failed, ...one.skipped]);
  const [takenBack, setTakenBack] = useState<readonly string[]>([]);
  const acting = useAction(async (one: Synced) => {
    await takeBack(one, target.identifier);
    setTakenBack((before) => [...before, one.resourceId]);
    notify(one.action === "created" ? texts.switchedOff : texts.rolledBack);
  });

  function showAction(one: Synced) {
    if (takenBack.includes(one.resourceId)) {
      return <Status tone="plain">{texts.rolledBack}</Status>;
    }
    if (one.resourceType !== "workflow" || one.action === "deleted") {
      return null;
    }
    return (
      <Button aria-label={texts.rollBackOf(one.resourceName)} onClick={() => acting.run(one)} busy={acting.isBusy}>
        {texts.rollBack}
      </Button>
    );
  }

  return (
    <section class="stack" aria-label={texts.results}>
      <h2>{texts.published}</h2>
      {acting.error !== null && <Problem error={acting.error} />}
      <Table
        label={texts.results}
        rows={done}
        rowKey={(one) => `${one.resourceType} ${one.resourceId}`}
        columns={[
          {
            name: "name",
            title: texts.kinds.workflow,
            show: (one) => (
              <a href={addressOf(target.identifier, `/${one.resourceType}s/${encodeURIComponent(one.resourceId)}`)}>
                <bdi>{one.resourceName}</bdi>
              </a>
            ),
          },
          { name: "action", title: texts.results, show: (one) => texts.done[one.action] },
          ...actionsColumn(showAction),
        ]}
      />
      {failed.map((one) => (
        <p key={`${one.resourceType} ${one.resourceId}`}>
          <Status tone="bad">{texts.failed}</Status> <bdi>{one.resourceName}</bdi>: {one.reason}
        </p>
      ))}
      <div class="row">
        <Button onClick={onDone}>{texts.resources}</Button>
      </div>
    </section>
  );
}

/** A changed workflow gets the version before again; a new one is switched off. */
async function takeBack(one: Synced, environment: string): Promise<void> {
  const headers = { "Clarion-Environment": environment };
  const path = { workflowId: one.resourceId };
  if (one.action === "created") {
    await api.PATCH("/v2/workflows/{workflowId}", { params: { path }, headers, body: { active: false } });
    return;
  }
  const query = { limit: 2 };
  const versions = dataOf(await api.GET("/v1/workflows/{workflowId}/versions", { params: { path, query }, headers }));
  const before = versions.data[1];
  if (!before) {
    throw new Error(texts.nothing);
  }
  await api.POST("/v1/workflows/{workflowId}/versions/{versionId}/restore", {
    params: { path: { ...path, versionId: before._id } },
    headers,
  });
}
