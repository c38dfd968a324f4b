import { useRoute } from "preact-iso/router";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { findProvider, type Provider, useProviders } from "../../parts/providers.ts";
import { useAddress, useCan } from "../../session.ts";
import { texts } from "../../texts/integrations.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { IntegrationMarks } from "../integrations/integration-row.tsx";
import { IntegrationActions } from "./actions.tsx";
import { BotPart } from "./bot-part.tsx";
import { isBuiltIn } from "./form/model.ts";
import { HealthPart } from "./health/health-part.tsx";
import type { PartProps } from "./part.ts";
import { ReceiptsPart } from "./receipts-part.tsx";
import { RepliesPart } from "./replies-part.tsx";
import { SettingsPart } from "./settings-part.tsx";
import { TestPart } from "./test-message/test-part.tsx";

type PartName = keyof typeof texts.parts;

export default function IntegrationPage() {
  const integrationId = useRoute().params.integrationId ?? "";
  const one = useLoaded(`integration ${integrationId}`, async (signal) =>
    dataOf(await api.GET("/v1/integrations/{integrationId}", { params: { path: { integrationId } }, signal })),
  );
  const providers = useProviders();
  const provider = one.data && providers.data && findProvider(providers.data, one.data);
  const failed = one.error ?? providers.error;
  if (!one.data || !provider || failed) {
    return (
      <Page title={shellTexts.pages.integration}>
        {failed ? (
          <Problem error={failed} onRetry={one.error ? one.reload : providers.reload} />
        ) : (
          <Loading lines={8} />
        )}
      </Page>
    );
  }
  return <Content key={one.data._id} integration={one.data} provider={provider} onChanged={one.reload} />;
}

function Content(props: PartProps) {
  const { integration, provider } = props;
  const address = useAddress();
  const canWrite = useCan("integrations:write");
  const url = useUrlState();
  const parts = listParts(provider, canWrite);
  const current = parts.find((one) => one === url.get("part")) ?? parts[0];
  const here = address(`/integrations/${integration._id}`);
  return (
    <Page
      title={integration.name}
      back={{ href: address("/integrations"), label: texts.toList }}
      lead={
        <span class="row">
          <span>
            {provider.name} · {runTexts.channels[integration.channel]}
          </span>
          <code>{integration.identifier}</code>
          <IntegrationMarks integration={integration} />
        </span>
      }
      actions={canWrite && <IntegrationActions {...props} />}
    >
      <Tabs
        label={texts.partsLabel}
        tabs={parts.map((name) => ({
          href: name === parts[0] ? here : `${here}?part=${name}`,
          label: texts.parts[name],
          isCurrent: name === current,
        }))}
      />
      {current === "health" && <HealthPart {...props} />}
      {current === "settings" && <SettingsPart {...props} />}
      {current === "test" && <TestPart {...props} />}
      {current === "receipts" && <ReceiptsPart {...props} />}
      {current === "bot" && <BotPart {...props} />}
      {current === "replies" && <RepliesPart {...props} />}
    </Page>
  );
}

/** Health is first, where there is any: it is what one looks for when something fails. */
function listParts(provider: Provider, canWrite: boolean): PartName[] {
  const parts: PartName[] = isBuiltIn(provider) && provider.channel === "in_app" ? [] : ["health"];
  parts.push("settings");
  if (canWrite && !isBuiltIn(provider)) {
    parts.push("test");
  }
  if (canWrite && provider.receipts) {
    parts.push("receipts");
  }
  if (canWrite && provider.id === "telegram") {
    parts.push("bot");
  }
  if (canWrite && provider.channel === "email") {
    parts.push("replies");
  }
  return parts;
}
