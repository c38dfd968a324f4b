import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { CheckField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Page } from "../../../ui/page.tsx";
import type { Provider } from "../../parts/providers.ts";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/integrations.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { AccountFields } from "../integration/form/account-fields.tsx";
import { DeliveryFields, NamingFields } from "../integration/form/delivery-fields.tsx";
import { creationOf, isBuiltIn, valuesOf } from "../integration/form/model.ts";
import { isOrdered } from "../integrations/model.ts";

/** The form of a new integration of a provider. */
export function NewForm({ provider }: { provider: Provider }) {
  const address = useAddress();
  const { route } = useLocation();
  const [values, setValues] = useState(() => valuesOf(provider));
  const [check, setCheck] = useState(provider.check !== undefined);
  const [isPrimary, setPrimary] = useState(false);
  const creating = useAction(async () => {
    const made = dataOf(await api.POST("/v1/integrations", { body: creationOf(provider, values, check) }));
    if (isPrimary && !made.primary) {
      await api.POST("/v1/integrations/{integrationId}/set-primary", { params: { path: { integrationId: made._id } } });
    }
    notify(texts.created);
    route(address(`/integrations/${made._id}${isBuiltIn(provider) ? "" : "?part=test"}`));
  });
  const part = { provider, values, onValues: setValues, problems: creating.fields };
  return (
    <Page
      title={texts.newOf(provider.name)}
      lead={runTexts.channels[provider.channel]}
      back={{ href: address(`/integrations/new?channel=${provider.channel}`), label: texts.otherProvider }}
    >
      <Form class="integration-form" noValidate action={creating} submit={texts.create}>
        <AccountFields {...part} />
        <NamingFields {...part} isNew />
        <DeliveryFields {...part}>
          {isOrdered(provider.channel) && (
            <CheckField label={texts.primary} checked={isPrimary} onChecked={setPrimary} hint={texts.primaryHint} />
          )}
        </DeliveryFields>
        {provider.check && <CheckField label={texts.check} checked={check} onChecked={setCheck} />}
      </Form>
    </Page>
  );
}
