import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/variables.ts";

type DeleteVariableProps = { variableKey: string; onDeleted: () => void; onClose: () => void };

/** Asks, and names the workflows that would see nothing then. */
export function DeleteVariable({ variableKey, onDeleted, onClose }: DeleteVariableProps) {
  const params = { path: { variableKey } };
  const usage = useLoaded(`usage ${variableKey}`, async (signal) =>
    dataOf(await api.GET("/v1/environment-variables/{variableKey}/usage", { params, signal })),
  );
  const workflows = usage.data?.workflows ?? [];
  return (
    <Confirm
      title={texts.deleteTitle(variableKey)}
      action={texts.delete}
      isDangerous
      typed={variableKey}
      onClose={onClose}
      onConfirm={async () => {
        await api.DELETE("/v1/environment-variables/{variableKey}", { params });
        notify(texts.deleted(variableKey));
        onDeleted();
      }}
    >
      <p>{texts.deleteHint}</p>
      {workflows.length > 0 && (
        <>
          <p>{texts.usedBy}</p>
          <ul>
            {workflows.map((workflow) => (
              <li key={workflow.workflowId}>
                <bdi>{workflow.name}</bdi>
              </li>
            ))}
          </ul>
        </>
      )}
    </Confirm>
  );
}
