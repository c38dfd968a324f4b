import { useEffect, useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { CheckField } from "../../../ui/field.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import type { Environment } from "../../session.ts";
import { promotion as texts } from "../../texts/environments.ts";
import { chooseAtFirst, idOf, isChangeable, keyOf } from "./model.ts";
import { ResourceRow } from "./resource-row.tsx";

type DifferencesProps = {
  source: Environment;
  target: Environment;
  onPublished: (result: components["schemas"]["PublishResult"]) => void;
};

/** What the target lacks or has otherwise, and which of it to publish. */
export function Differences({ source, target, onPublished }: DifferencesProps) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [isAsking, setAsking] = useState(false);
  const request = { params: { path: { targetEnvironmentId: target._id } } };
  const diff = useLoaded(`diff ${source._id} ${target._id}`, async (signal) =>
    dataOf(
      await api.POST("/v2/environments/{targetEnvironmentId}/diff", {
        ...request,
        body: { sourceEnvironmentId: source._id },
        signal,
      }),
    ),
  );
  const differing = diff.data?.resources.filter((one) => one.action !== "unchanged") ?? [];
  useEffect(() => setChosen(chooseAtFirst(diff.data?.resources ?? [])), [diff.data]);
  const canPublish = target.scopes.includes("environments:write");

  async function publish() {
    const resources = differing
      .filter((one) => chosen.includes(keyOf(one)))
      .map((one) => ({ resourceType: one.resourceType, resourceId: idOf(one) }));
    const prune = differing.some((one) => one.action === "deleted" && chosen.includes(keyOf(one)));
    const answer = await api.POST("/v2/environments/{targetEnvironmentId}/publish", {
      ...request,
      body: { sourceEnvironmentId: source._id, resources, prune },
    });
    onPublished(dataOf(answer));
  }

  if (diff.error !== undefined) {
    return <Problem error={diff.error} onRetry={diff.reload} />;
  }
  if (!diff.data) {
    return <Loading lines={6} />;
  }
  if (differing.length === 0) {
    return (
      <Empty title={texts.nothing}>
        <p class="quiet">{texts.nothingHint(source.name, target.name)}</p>
      </Empty>
    );
  }
  const choosable = differing.filter(isChangeable).map(keyOf);
  return (
    <section class="stack" aria-label={texts.resources}>
      {canPublish && (
        <CheckField
          label={texts.chooseAll}
          checked={choosable.every((key) => chosen.includes(key))}
          onChecked={(checked) => setChosen(checked ? choosable : [])}
        />
      )}
      {differing.map((one) => (
        <ResourceRow
          key={keyOf(one)}
          diff={one}
          canChoose={canPublish}
          isChosen={chosen.includes(keyOf(one))}
          onChosen={(isChosen) =>
            setChosen(isChosen ? [...chosen, keyOf(one)] : chosen.filter((key) => key !== keyOf(one)))
          }
        />
      ))}
      {canPublish && (
        <div class="row">
          <Button kind="primary" disabled={chosen.length === 0} onClick={() => setAsking(true)}>
            {texts.publish(chosen.length)}
          </Button>
        </div>
      )}
      {isAsking && (
        <Confirm
          title={texts.publishTitle(chosen.length, target.name)}
          action={texts.publish(chosen.length)}
          isDangerous={target.type === "prod"}
          onConfirm={publish}
          onClose={() => setAsking(false)}
        >
          {target.type === "prod" && (
            <p>
              <strong>{texts.production}</strong>
            </p>
          )}
          <p>{texts.publishHint}</p>
        </Confirm>
      )}
    </section>
  );
}
