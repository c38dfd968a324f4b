import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/layouts.ts";

/** The workflows whose e-mails have the layout. */
export function Usage({ layoutId }: { layoutId: string }) {
  const address = useAddress();
  const usage = useLoaded(`usage/${layoutId}`, async (signal) => {
    const params = { path: { layoutId } };
    return dataOf(await api.GET("/v2/layouts/{layoutId}/usage", { params, signal })).workflows;
  });
  return (
    <section class="panel stack" aria-labelledby="layout-usage">
      <h2 id="layout-usage">{texts.usage}</h2>
      {usage.error !== undefined && <Problem error={usage.error} onRetry={usage.reload} />}
      {!usage.data && usage.error === undefined && <Loading />}
      {usage.data?.length === 0 && <p class="quiet">{texts.noUsage}</p>}
      {usage.data && usage.data.length > 0 && (
        <ul>
          {usage.data.map((workflow) => (
            <li key={workflow.workflowId}>
              <a href={address(`/workflows/${encodeURIComponent(workflow.workflowId)}`)}>
                <bdi>{workflow.name}</bdi>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
