import { useUrlState } from "../../../api/url-state.ts";
import { Button } from "../../../ui/button.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Page } from "../../../ui/page.tsx";
import { Empty } from "../../../ui/states.tsx";
import { Status } from "../../../ui/status.tsx";
import { ChannelField } from "../../parts/channel-field.tsx";
import type { Provider } from "../../parts/providers.ts";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/integrations.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { isBuiltIn } from "../integration/form/model.ts";
import { CHANNELS } from "../integrations/model.ts";
import { searchCatalogue } from "./model.ts";

/** All providers by channel, to choose one from. */
export function Catalogue({ providers }: { providers: readonly Provider[] }) {
  const url = useUrlState();
  const address = useAddress();
  const groups = searchCatalogue(providers, url.get("q"), url.get("channel"));
  const count = groups.reduce((sum, group) => sum + group.providers.length, 0);
  return (
    <Page
      title={shellTexts.pages.integrationNew}
      lead={texts.catalogueLead}
      back={{ href: address("/integrations"), label: texts.toList }}
    >
      <search class="toolbar" aria-label={texts.catalogue}>
        <TextField
          type="search"
          label={texts.search}
          placeholder={texts.searchHint}
          value={url.get("q")}
          onValue={(q) => url.set({ q })}
        />
        <ChannelField channels={CHANNELS} value={url.get("channel")} onValue={(channel) => url.set({ channel })} />
        <p class="integration-count quiet small" role="status">
          {texts.providers(count)}
        </p>
      </search>
      {count === 0 && (
        <Empty title={texts.noProvider}>
          <p class="quiet">{texts.noProviderHint}</p>
          <Button onClick={() => url.set({ q: "", channel: "" })}>{texts.showAll}</Button>
        </Empty>
      )}
      {groups.map(({ channel, providers: own }) => (
        <section key={channel} class="stack" aria-label={runTexts.channels[channel]}>
          <h2>{runTexts.channels[channel]}</h2>
          <ul class="integration-catalogue">
            {own.map((one) => (
              <li key={one.id}>
                <ProviderCard provider={one} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Page>
  );
}

function ProviderCard({ provider }: { provider: Provider }) {
  const address = useAddress();
  return (
    <a class="integration-provider" href={address(`/integrations/new?provider=${encodeURIComponent(provider.id)}`)}>
      <span class="integration-provider-name">{provider.name}</span>
      <span class="row">
        {isBuiltIn(provider) && <Status tone="plain">{texts.builtIn}</Status>}
        {provider.receipts && <span class="small quiet">{texts.withReceipts}</span>}
        {provider.attachments && <span class="small quiet">{texts.withAttachments}</span>}
      </span>
    </a>
  );
}
