import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { momentText } from "../../../ui/formats.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/segments.ts";
import { isUsed, type SegmentUsage } from "../segments/model.ts";

/** What refers to the segment, and triggers for it that are under way. */
export function Usage({ segmentKey }: { segmentKey: string }) {
  const canReadWorkflows = useCan("workflows:read");
  const canReadRuns = useCan("events:read");
  const canReadSchedules = useCan("schedules:read");
  return canReadWorkflows && canReadRuns && canReadSchedules ? <Users segmentKey={segmentKey} /> : null;
}

function Users({ segmentKey }: { segmentKey: string }) {
  const usage = useLoaded(`segment ${segmentKey} usage`, async (signal) => {
    const params = { path: { segmentKey } };
    return dataOf(await api.GET("/v1/segments/{segmentKey}/usage", { params, signal }));
  });
  return (
    <section class="panel stack" aria-label={texts.usage}>
      <h2>{texts.usage}</h2>
      {usage.error !== undefined && <Problem error={usage.error} onRetry={usage.reload} />}
      {!usage.data && usage.error === undefined && <Loading />}
      {usage.data && !isUsed(usage.data) && <p class="quiet">{texts.noUsage}</p>}
      {usage.data && <UserLists usage={usage.data} />}
    </section>
  );
}

function UserLists({ usage }: { usage: SegmentUsage }) {
  const workflows = usage.workflows.map(({ workflowId, name }) => ({ path: `/workflows/${encode(workflowId)}`, name }));
  const schedules = usage.schedules.map(({ identifier, name }) => ({ path: `/schedules/${encode(identifier)}`, name }));
  const triggers = usage.triggers.map(({ transactionId, at }) => ({
    path: `/activity?transactionId=${encode(transactionId)}`,
    name: `${transactionId} · ${momentText(at, "exact")}`,
  }));
  return (
    <>
      <Uses title={texts.workflows} uses={workflows} />
      <Uses title={texts.schedules} uses={schedules} />
      <Uses title={texts.triggers} uses={triggers} />
    </>
  );
}

function Uses({ title, uses }: { title: string; uses: readonly { path: string; name: string }[] }) {
  const address = useAddress();
  if (uses.length === 0) {
    return null;
  }
  return (
    <div>
      <h3>{title}</h3>
      <ul>
        {uses.map(({ path, name }) => (
          <li key={path}>
            <a href={address(path)}>
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function encode(id: string): string {
  return encodeURIComponent(id);
}
