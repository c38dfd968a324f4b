import { useMemo } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { curlCommand } from "../../../api/curl.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { nameOfProvider, useProviders } from "../../parts/providers.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/integrations.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { IntegrationRow } from "./integration-row.tsx";
import { type ChannelGroup, groupByChannel, type Integration, type IntegrationState, isOrdered } from "./model.ts";
import { OrderedList } from "./ordered-list.tsx";

export default function IntegrationsPage() {
  const address = useAddress();
  const canWrite = useCan("integrations:write");
  const list = useLoaded("integrations", async (signal) => dataOf(await api.GET("/v1/integrations", { signal })));
  const health = useLoaded("health", async (signal) => dataOf(await api.GET("/v1/integrations/health", { signal })));
  const providers = useProviders();
  // The same as long as no other list was loaded: what people move meanwhile stays where it is.
  const groups = useMemo(() => list.data && groupByChannel(list.data), [list.data]);
  const row: ShowRow = (one) => (
    <IntegrationRow
      integration={one}
      provider={nameOfProvider(providers.data, one.providerId)}
      state={health.data?.find((state) => state._integrationId === one._id)}
    />
  );
  return (
    <Page
      title={shellTexts.pages.integrations}
      lead={texts.lead}
      actions={
        canWrite && (
          <ButtonLink kind="primary" href={address("/integrations/new")}>
            {texts.add}
          </ButtonLink>
        )
      }
    >
      {health.error && !list.error ? <Problem error={health.error} onRetry={health.reload} /> : null}
      {list.error ? (
        <Problem error={list.error} onRetry={list.reload} />
      ) : groups === undefined ? (
        <Loading lines={6} />
      ) : (
        groups.map((group) => <ChannelSection key={group.channel} group={group} row={row} onOrdered={list.reload} />)
      )}
    </Page>
  );
}

type ShowRow = (integration: Integration, state?: IntegrationState) => preact.JSX.Element;

type SectionProps = { group: ChannelGroup; row: ShowRow; onOrdered: () => void };

function ChannelSection({ group, row, onOrdered }: SectionProps) {
  const canWrite = useCan("integrations:write");
  const name = runTexts.channels[group.channel];
  const canOrder = canWrite && isOrdered(group.channel) && group.active.length > 1;
  return (
    <section class="integrations-channel" aria-label={name}>
      <h2>{name}</h2>
      {group.active.length + group.inactive.length === 0 && <NoIntegration group={group} />}
      {canOrder ? (
        <OrderedList channel={group.channel} integrations={group.active} row={row} onOrdered={onOrdered} />
      ) : (
        <Rows label={texts.ofChannel(name)} integrations={group.active} row={row} />
      )}
      <Rows label={texts.inactiveOf(name)} integrations={group.inactive} row={row} />
    </section>
  );
}

function Rows({ label, integrations, row }: { label: string; integrations: readonly Integration[]; row: ShowRow }) {
  if (integrations.length === 0) {
    return null;
  }
  return (
    <ul class="integrations-list" aria-label={label}>
      {integrations.map((one) => (
        <li key={one._id} class="integrations-item">
          {row(one)}
        </li>
      ))}
    </ul>
  );
}

function NoIntegration({ group }: { group: ChannelGroup }) {
  const address = useAddress();
  const canWrite = useCan("integrations:write");
  const name = runTexts.channels[group.channel];
  if (group.channel === "email" && canWrite) {
    // The channel that most begin with: its command makes a first integration that works without an account.
    const body = { providerId: "svc-email", channel: "email", active: true };
    return (
      <Empty title={texts.noneTitle(name)} command={curlCommand({ method: "POST", path: "/v1/integrations", body })}>
        <p class="quiet">{texts.noneHint}</p>
        <ButtonLink href={address("/integrations/new?channel=email")}>{texts.addFor(name)}</ButtonLink>
      </Empty>
    );
  }
  return (
    <p class="integrations-none quiet">
      {texts.noneTitle(name)}. {texts.noneHint}{" "}
      {canWrite && <a href={address(`/integrations/new?channel=${group.channel}`)}>{texts.addFor(name)}</a>}
    </p>
  );
}
