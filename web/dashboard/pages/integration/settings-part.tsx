import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { CheckField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Time } from "../../../ui/time.tsx";
import { useCan } from "../../session.ts";
import { texts } from "../../texts/integrations.ts";
import { AccountFields } from "./form/account-fields.tsx";
import { DeliveryFields, NamingFields } from "./form/delivery-fields.tsx";
import { changesOf, MASK, valuesOf } from "./form/model.ts";
import type { PartProps } from "./part.ts";

/** The settings: a form for those who may change them, facts for the others. */
export function SettingsPart(props: PartProps) {
  return useCan("integrations:write") ? <SettingsForm {...props} /> : <SettingsFacts {...props} />;
}

function SettingsForm({ integration, provider, onChanged }: PartProps) {
  const [stored, setStored] = useState(integration);
  const [values, setValues] = useState(() => valuesOf(provider, integration));
  const [check, setCheck] = useState(false);
  const params = { path: { integrationId: integration._id } };
  const saving = useAction(async () => {
    const changes = changesOf(provider, values, stored);
    if (Object.keys(changes).length === 0 && !check) {
      notify(texts.nothingToSave);
      return;
    }
    const body = { ...changes, ...(check && { check }) };
    const saved = dataOf(await api.PUT("/v1/integrations/{integrationId}", { params, body }));
    setStored(saved);
    setValues(valuesOf(provider, saved));
    setCheck(false);
    notify(check ? texts.checked : texts.saved);
    onChanged();
  });
  const part = { provider, values, onValues: setValues, problems: saving.fields };
  return (
    <Form class="integration-form" noValidate action={saving} submit={texts.save}>
      <AccountFields {...part} integration={stored} />
      <NamingFields {...part} isNew={false} />
      <DeliveryFields {...part} />
      {provider.check && <CheckField label={texts.check} checked={check} onChecked={setCheck} />}
    </Form>
  );
}

function SettingsFacts({ integration, provider }: PartProps) {
  const stored: Record<string, unknown> = integration.credentials;
  const credentials = provider.credentials.map(({ name, label }) => {
    const value = stored[name];
    return [label, value === MASK ? texts.set : showValue(value)] as const;
  });
  return (
    <section class="panel stack" aria-label={texts.facts}>
      <p class="quiet">{texts.readOnly}</p>
      <KeyValues
        values={[
          ...credentials,
          [texts.weightField, String(integration.weight)],
          [texts.rateField, integration.rateLimit === undefined ? "" : texts.limit(integration.rateLimit)],
          [texts.since, <Time key="since" at={integration.createdAt} />],
          [texts.changed, <Time key="changed" at={integration.updatedAt} />],
        ]}
      />
    </section>
  );
}

function showValue(value: unknown): string {
  if (value === undefined || value === null) {
    return "";
  }
  if (typeof value === "boolean") {
    return value ? texts.yes : texts.no;
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
