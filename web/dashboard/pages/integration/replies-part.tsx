import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Copyable } from "../../../ui/copyable.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/integration-replies.ts";
import { isLocalAddress } from "./health/model.ts";
import type { PartProps } from "./part.ts";

/** Where the provider hands over mail that comes in, and what it has to be told. */
export function RepliesPart({ integration, provider }: PartProps) {
  const { environment } = useSession();
  const integrationId = integration._id;
  const found = useLoaded(`replies ${integrationId}`, async (signal) => {
    const params = { path: { integrationId } };
    return dataOf(await api.GET("/v1/integrations/{integrationId}/replies-address", { params, signal }));
  });
  const replies = useLoaded(`replies of ${environment.identifier}`, async (signal) => {
    return dataOf(await api.GET("/v1/environments/me", { signal })).replies;
  });
  const error = found.error ?? replies.error;
  return (
    <section class="panel stack" aria-label={texts.title}>
      <h2>{texts.title}</h2>
      <p>{texts.lead}</p>
      {error !== undefined && <Problem error={error} onRetry={found.error ? found.reload : replies.reload} />}
      {replies.data && (
        <p>{replies.data.enabled ? texts.isOn(replies.data.domain ?? "") : texts.isOff(environment.name)}</p>
      )}
      {found.data ? (
        <>
          <Copyable text={found.data.url} />
          {isLocalAddress(found.data.url) && <p class="integration-warning">{texts.local}</p>}
        </>
      ) : (
        found.isLoading && <Loading lines={2} />
      )}
      <ol class="integration-steps">
        <li>{texts.mailRecord(replies.data?.domain ?? texts.example)}</li>
        <li>{texts.hooks[provider.id] ?? texts.otherHook}</li>
        <li>{texts.secret}</li>
        <li>{texts.environment}</li>
      </ol>
    </section>
  );
}
