import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Status, type Tone } from "../../../ui/status.tsx";
import { FieldChanges } from "../../parts/field-changes.tsx";
import { useCan } from "../../session.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts } from "../../texts/versions.ts";

type Schemas = components["schemas"];
type PartDiff = Schemas["PartDiff"];

type VersionDetailsProps = { workflow: Schemas["Workflow"]; number: string; onRestored: () => void };

/** What a version changed, or how it differs from the current one; and the way back to it. */
export function VersionDetails({ workflow, number, onRestored }: VersionDetailsProps) {
  const state = useUrlState();
  const canWrite = useCan("workflows:write");
  const [isRestoring, setRestoring] = useState(false);
  const isCurrent = Number(number) === workflow.version;
  const against = state.get("against") === "current" && !isCurrent ? "current" : "previous";
  return (
    <section class="stack panel versions-details" aria-label={texts.version(Number(number))}>
      <div class="row spread">
        <h2>{texts.version(Number(number))}</h2>
        {canWrite && !isCurrent && <Button onClick={() => setRestoring(true)}>{texts.restore}</Button>}
      </div>
      <div class="toolbar">
        <SelectField
          label={texts.against}
          value={against}
          options={[
            { value: "previous", label: texts.previous },
            ...(isCurrent ? [] : [{ value: "current", label: texts.now }]),
          ]}
          onValue={(chosen) => state.set({ against: chosen })}
        />
      </div>
      <VersionDiff workflow={workflow} number={Number(number)} against={against} />
      {isRestoring && (
        <Confirm
          title={texts.restoreTitle(Number(number))}
          action={texts.restoreAction}
          onClose={() => setRestoring(false)}
          onConfirm={async () => {
            await api.POST("/v1/workflows/{workflowId}/versions/{versionId}/restore", {
              params: {
                path: { workflowId: workflow.workflowId, versionId: number },
                header: { "If-Match": `"${workflow.etag}"` },
              },
            });
            notify(texts.restored(Number(number)));
            state.set({ version: undefined, against: undefined });
            onRestored();
          }}
        >
          <p>{texts.restoreHint}</p>
        </Confirm>
      )}
    </section>
  );
}

type VersionDiffProps = { workflow: Schemas["Workflow"]; number: number; against: "previous" | "current" };

function VersionDiff({ workflow, number, against }: VersionDiffProps) {
  const isFirst = against === "previous" && number === 1;
  const [from, to] = against === "previous" ? [number - 1, number] : [number, workflow.version];
  const diff = useLoaded(`${workflow.etag}/${from}/${to}/${isFirst}`, async (signal) => {
    if (isFirst) {
      return null;
    }
    const path = { workflowId: workflow.workflowId, versionId: String(from) };
    const params = { path, query: { to: String(to) } };
    return dataOf(await api.GET("/v1/workflows/{workflowId}/versions/{versionId}/diff", { params, signal }));
  });
  if (diff.error !== undefined) {
    return <Problem error={diff.error} onRetry={diff.reload} />;
  }
  if (isFirst) {
    return <p class="quiet">{texts.first}</p>;
  }
  if (!diff.data) {
    return <Loading />;
  }
  const changes = diff.data.changes.filter((one) => one.action !== "unchanged");
  return (
    <>
      <p class="quiet">{texts.changes(from, to)}</p>
      {changes.length === 0 && <p>{texts.nothing}</p>}
      {changes.map((change) => (
        <PartChange key={change.stepId ?? ""} change={change} />
      ))}
    </>
  );
}

const TONES: Record<PartDiff["action"], Tone> = {
  added: "good",
  deleted: "bad",
  modified: "warn",
  moved: "wait",
  unchanged: "plain",
};

function PartChange({ change }: { change: PartDiff }) {
  const name = change.name ?? texts.content;
  const isMoved =
    change.previousIndex !== undefined && change.newIndex !== undefined && change.previousIndex !== change.newIndex;
  return (
    <section class="stack versions-part">
      <h3 class="row">
        <bdi>{name}</bdi>
        {change.stepType && <span class="small quiet">{runTexts.stepTypes[change.stepType]}</span>}
        <Status tone={TONES[change.action]}>{texts.actions[change.action]}</Status>
        {isMoved && (
          <span class="small quiet">{texts.place(change.previousIndex as number, change.newIndex as number)}</span>
        )}
      </h3>
      {change.fields.length > 0 && <FieldChanges label={texts.fieldsOf(name)} changes={change.fields} />}
    </section>
  );
}
