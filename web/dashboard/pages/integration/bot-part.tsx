import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { texts } from "../../texts/integration-bot.ts";
import type { PartProps } from "./part.ts";

/** The bot of an integration of Telegram: its webhook, and a page on which a phone gives it its token. */
export function BotPart(props: PartProps) {
  return (
    <>
      <Webhook {...props} />
      <PhonePage {...props} />
    </>
  );
}

function Webhook({ integration }: PartProps) {
  const [result, setResult] = useState<{ name: string; url: string } | null>(null);
  const configure = useAction(async () => {
    setResult(null);
    const params = { path: { integrationIdentifier: integration.identifier } };
    const answer = await api.POST("/v1/integrations/{integrationIdentifier}/webhook/configure", { params });
    const { botUsername, webhookUrl } = dataOf(answer);
    setResult({ name: botUsername, url: webhookUrl });
  });
  return (
    <section class="panel stack" aria-label={texts.webhookTitle}>
      <h2>{texts.webhookTitle}</h2>
      <p>{texts.webhookLead}</p>
      <div>
        <Button kind="primary" busy={configure.isBusy} onClick={() => void configure.run()}>
          {texts.configure}
        </Button>
      </div>
      {configure.error ? <Problem error={configure.error} /> : null}
      {result && (
        <div role="status">
          <p>{texts.configured(result.name)}</p>
          <Copyable text={result.url} />
        </div>
      )}
    </section>
  );
}

function PhonePage({ integration }: PartProps) {
  const [url, setUrl] = useState<string | null>(null);
  const make = useAction(async () => {
    setUrl(null);
    const params = { path: { integrationIdentifier: integration.identifier } };
    const answer = await api.POST("/v1/integrations/{integrationIdentifier}/mobile-link", { params, body: {} });
    setUrl(dataOf(answer).url);
  });
  return (
    <section class="panel stack" aria-label={texts.phoneTitle}>
      <h2>{texts.phoneTitle}</h2>
      <p>{texts.phoneLead}</p>
      <div>
        <Button busy={make.isBusy} onClick={() => void make.run()}>
          {texts.makePage}
        </Button>
      </div>
      {make.error ? <Problem error={make.error} /> : null}
      {url && (
        <div role="status">
          <p>{texts.pageMade}</p>
          <Copyable text={url} />
        </div>
      )}
    </section>
  );
}
