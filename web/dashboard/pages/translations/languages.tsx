import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api } from "../../../api/client.ts";
import type { Loaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { notify } from "../../../ui/notices.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/translations.ts";

type Settings = components["schemas"]["OrganizationSettings"];
type LanguagesProps = { settings: Loaded<Settings>; onSaved: () => Promise<void> };

/** The languages of the organization. */
export function Languages({ settings, onSaved }: LanguagesProps) {
  const { environment } = useSession();
  const [isEditing, setEditing] = useState(false);
  return (
    <section class="panel stack" aria-labelledby="translation-languages">
      <div class="row spread">
        <h2 id="translation-languages">{texts.settings}</h2>
        {environment.role === "owner" && settings.data && (
          <Button onClick={() => setEditing(true)}>{texts.edit}</Button>
        )}
      </div>
      {settings.error !== undefined && <Problem error={settings.error} onRetry={settings.reload} />}
      {!settings.data && settings.error === undefined && <Loading />}
      {settings.data && (
        <KeyValues
          values={[
            [texts.defaultLocale, settings.data.defaultLocale],
            [texts.targetLocales, settings.data.targetLocales.join(", ") || "–"],
          ]}
        />
      )}
      <p class="small quiet">{texts.settingsHint}</p>
      {isEditing && settings.data && (
        <EditLanguages settings={settings.data} onSaved={onSaved} onClose={() => setEditing(false)} />
      )}
    </section>
  );
}

type EditLanguagesProps = { settings: Settings; onSaved: () => Promise<void>; onClose: () => void };

function EditLanguages({ settings, onSaved, onClose }: EditLanguagesProps) {
  const [defaultLocale, setDefault] = useState(settings.defaultLocale);
  const [targets, setTargets] = useState(settings.targetLocales.join(", "));
  const saving = useAction(async () => {
    const targetLocales = targets
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean);
    await api.PATCH("/v1/organizations/settings", { body: { defaultLocale, targetLocales } });
    notify(texts.settingsSaved);
    await onSaved();
    onClose();
  });
  const targetProblem = Object.entries(saving.fields).find(([path]) => path.startsWith("targetLocales"))?.[1];
  return (
    <Dialog title={texts.settings} onClose={onClose}>
      <Form action={saving} submit={texts.saveSettings} onCancel={onClose}>
        <TextField
          label={texts.defaultLocale}
          hint={texts.defaultLocaleHint}
          value={defaultLocale}
          onValue={setDefault}
          required
          problem={saving.fields.defaultLocale}
        />
        <TextField
          label={texts.targetLocales}
          hint={texts.targetLocalesHint}
          value={targets}
          onValue={setTargets}
          problem={targetProblem}
        />
      </Form>
    </Dialog>
  );
}
