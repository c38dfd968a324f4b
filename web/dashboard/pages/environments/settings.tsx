import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import type { components } from "../../../api/schema.d.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { notify } from "../../../ui/notices.tsx";
import { texts } from "../../texts/environments.ts";
import { InboxSettings } from "./inbox-settings.tsx";
import { MailSettings } from "./mail-settings.tsx";
import { formOf, LIMITS, patchOf, RETENTIONS } from "./model.ts";

type SettingsProps = {
  environment: components["schemas"]["Environment"];
  onClose: () => void;
  onSaved: () => Promise<void>;
};

/** Name, time zone, e-mails, limits and retention of an environment. */
export function EnvironmentSettings({ environment, onClose, onSaved }: SettingsProps) {
  const [form, setForm] = useState(formOf(environment));
  const saving = useAction(async () => {
    const params = { path: { environmentId: environment._id } };
    await api.PATCH("/v1/environments/{environmentId}", { params, body: patchOf(form, environment) });
    notify(texts.saved);
    await onSaved();
    onClose();
  });
  return (
    <Dialog title={texts.settingsOf(environment.name)} onClose={onClose}>
      <Form action={saving} submit={texts.save} onCancel={onClose}>
        <TextField
          label={texts.name}
          required
          value={form.name}
          onValue={(name) => setForm({ ...form, name })}
          problem={saving.fields.name}
        />
        <TextField
          label={texts.timezone}
          hint={texts.timezoneHint}
          placeholder="Europe/Athens"
          value={form.timezone}
          onValue={(timezone) => setForm({ ...form, timezone })}
          problem={saving.fields.timezone}
        />
        <MailSettings
          form={form}
          provenDomain={environment.tracking.domain}
          identifier={environment.identifier}
          onForm={(mail) => setForm({ ...form, ...mail })}
          problems={saving.fields}
        />
        <h3>{texts.limits}</h3>
        <p class="small quiet">{texts.limitsHint}</p>
        <div class="environments-numbers">
          {LIMITS.flatMap((name) =>
            (["perSecond", "burst"] as const).map((part) => (
              <TextField
                key={`${name}.${part}`}
                label={texts[part](texts.limitNames[name])}
                type="number"
                min={0}
                step={part === "burst" ? 1 : "any"}
                value={form.limits[name][part]}
                onValue={(value) =>
                  setForm({ ...form, limits: { ...form.limits, [name]: { ...form.limits[name], [part]: value } } })
                }
                problem={saving.fields[`limits.${name}.${part}`] ?? saving.fields[`limits.${name}`]}
              />
            )),
          )}
        </div>
        <h3>{texts.retention}</h3>
        <p class="small quiet">{texts.retentionHint}</p>
        <div class="environments-numbers">
          {RETENTIONS.map((name) => (
            <TextField
              key={name}
              label={texts.retentionNames[name]}
              type="number"
              min={1}
              value={form.retentionDays[name]}
              onValue={(value) => setForm({ ...form, retentionDays: { ...form.retentionDays, [name]: value } })}
              problem={saving.fields[`retentionDays.${name}`]}
            />
          ))}
        </div>
      </Form>
      <InboxSettings environment={environment.identifier} />
    </Dialog>
  );
}
