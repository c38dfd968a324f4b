import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/variables.ts";
import { usesOf } from "./model.ts";

type DeleteVariableProps = { variableKey: string; onDeleted: () => void; onClose: () => void };

/** Asks, and names what refers to the variable. */
export function DeleteVariable({ variableKey, onDeleted, onClose }: DeleteVariableProps) {
  const params = { path: { variableKey } };
  const usage = useLoaded(`usage ${variableKey}`, async (signal) =>
    dataOf(await api.GET("/v1/environment-variables/{variableKey}/usage", { params, signal })),
  );
  const uses = usage.data ? usesOf(usage.data) : [];
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
      {uses.length > 0 && (
        <>
          <p>{texts.usedBy}</p>
          <ul>
            {uses.map((use) => (
              <li key={use}>{use}</li>
            ))}
          </ul>
        </>
      )}
    </Confirm>
  );
}
