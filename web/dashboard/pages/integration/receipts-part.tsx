import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { Copyable } from "../../../ui/copyable.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { texts } from "../../texts/integration-health.ts";
import { findSigningField, isLocalAddress, isPolled } from "./health/model.ts";
import type { PartProps } from "./part.ts";
import { Registration } from "./registration.tsx";

/** Where the provider reports to, and what to do with the address. */
export function ReceiptsPart(props: PartProps) {
  const { provider } = props;
  return (
    <section class="panel stack" aria-label={texts.receiptsTitle}>
      <h2>{texts.receiptsTitle}</h2>
      <p>{texts.receiptsLead(provider.name)}</p>
      {isPolled(provider) ? <p>{texts.receiptsPolled(provider.name)}</p> : <ReceiptsAddress {...props} />}
    </section>
  );
}

function ReceiptsAddress({ integration, provider, onChanged }: PartProps) {
  const integrationId = integration._id;
  const found = useLoaded(`receipts ${integrationId}`, async (signal) =>
    dataOf(
      await api.GET("/v1/integrations/{integrationId}/receipts-address", {
        params: { path: { integrationId } },
        signal,
      }),
    ),
  );
  if (found.error) {
    return <Problem error={found.error} onRetry={found.reload} />;
  }
  if (!found.data) {
    return <Loading lines={2} />;
  }
  const { url, signedWith } = found.data;
  const field = findSigningField(provider, signedWith);
  return (
    <>
      <Copyable text={url} />
      <Registration integration={integration} provider={provider} onChanged={onChanged} />
      {isLocalAddress(url) && <p class="integration-warning">{texts.receiptsLocal}</p>}
      <ol class="integration-steps">
        <li>{texts.receiptsStep1(provider.name)}</li>
        <li>
          {field
            ? texts.receiptsSigned(field.label)
            : signedWith
              ? texts.receiptsSignedElse(signedWith)
              : texts.receiptsToken}
        </li>
        <li>{texts.receiptsStep3}</li>
      </ol>
    </>
  );
}
