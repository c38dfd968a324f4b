import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { FieldChanges } from "../../parts/field-changes.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/run.ts";

type VersionDiff = components["schemas"]["VersionDiff"];
type PartDiff = VersionDiff["changes"][number];

/** The version of the workflow that ran, and what has changed since. */
export function VersionRan({ workflowId, version }: { workflowId: string; version: number }) {
  const path = { workflowId, versionId: String(version) };
  const diff = useLoaded(`diff ${workflowId} ${version}`, async (signal) =>
    dataOf(await api.GET("/v1/workflows/{workflowId}/versions/{versionId}/diff", { params: { path }, signal })),
  );
  return (
    <section class="stack panel">
      <h2>{texts.versions}</h2>
      {diff.data && <Difference diff={diff.data} workflowId={workflowId} />}
      {!diff.data && (diff.error ? <Problem error={diff.error} onRetry={diff.reload} /> : <Loading lines={1} />)}
    </section>
  );
}

function Difference({ diff, workflowId }: { diff: VersionDiff; workflowId: string }) {
  const address = useAddress();
  const [ran, current] = [diff.from.number, diff.to.number];
  const changes = diff.changes.filter((part) => part.action !== "unchanged");
  return (
    <>
      <p>
        {ran === current ? texts.versionIsCurrent(ran) : texts.versionDiffers(ran, current)}{" "}
        {ran !== current && changes.length === 0 && texts.versionSame}{" "}
        <a href={address(`/workflows/${encodeURIComponent(workflowId)}/versions`)}>{texts.versionLink}</a>
      </p>
      {changes.length > 0 && (
        <details>
          <summary>{texts.versionChanges}</summary>
          <div class="stack run-changes">
            {changes.map((part) => (
              <Part key={part.stepId ?? ""} part={part} />
            ))}
          </div>
        </details>
      )}
    </>
  );
}

function Part({ part }: { part: PartDiff }) {
  const name = part.name ?? part.stepId ?? texts.settings;
  const title = texts.part(name, texts.partActions[part.action]);
  // Of a whole step, what it says matters; its other fields have little to tell.
  const isWhole = part.action === "added" || part.action === "deleted";
  const fields = part.fields.filter((field) => !isWhole || field.path.startsWith("controls."));
  const hasMoved = part.previousIndex !== undefined && part.newIndex !== undefined && part.action === "moved";
  return (
    <section>
      <h3>{title}</h3>
      {hasMoved && <p>{texts.moved((part.previousIndex ?? 0) + 1, (part.newIndex ?? 0) + 1)}</p>}
      {fields.length > 0 && <FieldChanges label={title} changes={fields} />}
    </section>
  );
}
