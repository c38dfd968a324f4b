import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { CheckField } from "../../../ui/field.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { texts } from "../../texts/environments.ts";

/** Who can open an inbox of the environment. */
export function InboxSettings({ environment }: { environment: string }) {
  const headers = { "Clarion-Environment": environment };
  const inbox = useLoaded(`inbox ${environment}`, async (signal) => {
    const all = dataOf(await api.GET("/v1/integrations", { headers, signal }));
    return all.find((one) => one.channel === "in_app") ?? null;
  });
  const isRequired = inbox.data?.credentials?.hmac === true;
  const changing = useAction(async (hmac: boolean) => {
    if (inbox.data) {
      const params = { path: { integrationId: inbox.data._id } };
      await api.PUT("/v1/integrations/{integrationId}", {
        params,
        headers,
        body: { credentials: { ...inbox.data.credentials, hmac } },
      });
      notify(texts.saved);
      inbox.reload();
    }
  });
  return (
    <section class="stack">
      <h3>{texts.inbox}</h3>
      {inbox.error !== undefined && <Problem error={inbox.error} onRetry={inbox.reload} />}
      {inbox.data && (
        <CheckField
          isSwitch
          label={texts.hmac}
          hint={texts.hmacHint}
          checked={isRequired}
          disabled={changing.isBusy}
          onChecked={(checked) => void changing.run(checked)}
        />
      )}
      {changing.error !== null && <Problem error={changing.error} />}
      <p class="small quiet">{texts.cors}</p>
    </section>
  );
}
