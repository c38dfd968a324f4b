import { useEffect, useState } from "preact/hooks";
import { Button } from "../../../ui/button.tsx";
import { CheckField, Field, SelectField, TextArea, TextField } from "../../../ui/field.tsx";
import { JsonField } from "../../schema-form/json-field.tsx";
import { useAddress } from "../../session.ts";
import { texts } from "../../texts/editor.ts";
import { isObject, isSame } from "../../values.ts";
import { ChoiceField } from "./choice-field.tsx";
import type { Draft, Severity } from "./model.ts";
import { PreferencesForm } from "./preferences-form.tsx";
import { Section } from "./section.tsx";
import { TrackingForm } from "./tracking-form.tsx";

type WorkflowFormProps = {
  workflowId: string;
  draft: Draft;
  problems: Readonly<Record<string, string>>;
  canWrite: boolean;
  change: (make: (draft: Draft) => Draft) => void;
};

/** What belongs to the workflow as a whole. */
export function WorkflowForm({ workflowId, draft, problems, canWrite, change }: WorkflowFormProps) {
  const address = useAddress();
  const set = (changes: Partial<Draft>) => change((before) => ({ ...before, ...changes }));
  return (
    <div class="stack">
      <Section title={texts.general}>
        <div data-path="name">
          <TextField
            label={texts.name}
            value={draft.name}
            onValue={(name) => set({ name })}
            disabled={!canWrite}
            problem={problems.name}
          />
        </div>
        <Field label={texts.identifier}>
          {(attributes) => <input {...attributes} class="input" value={workflowId} readOnly />}
        </Field>
        <div data-path="description">
          <TextArea
            label={texts.description}
            rows={2}
            value={draft.description}
            onValue={(description) => set({ description })}
            disabled={!canWrite}
            problem={problems.description}
          />
        </div>
        <div class="document-pair">
          <div data-path="tags">
            <TagsField
              tags={draft.tags}
              onTags={(tags) => set({ tags })}
              disabled={!canWrite}
              problem={problems.tags}
            />
          </div>
          <SelectField
            label={texts.severity}
            hint={texts.severityHint}
            value={draft.severity}
            options={(["none", "low", "medium", "high"] as const).map((value) => ({
              value,
              label: texts.severities[value],
            }))}
            onValue={(severity) => set({ severity: severity as Severity })}
            disabled={!canWrite}
          />
        </div>
        <CheckField
          label={texts.active}
          hint={texts.activeHint}
          isSwitch
          checked={draft.active}
          onChecked={(active) => set({ active })}
          disabled={!canWrite}
        />
        <CheckField
          label={texts.isTranslated}
          hint={texts.isTranslatedHint}
          isSwitch
          checked={draft.isTranslationEnabled}
          onChecked={(isTranslationEnabled) => set({ isTranslationEnabled })}
          disabled={!canWrite}
        />
        {draft.isTranslationEnabled && (
          <a href={address(`/translations/workflow/${encodeURIComponent(workflowId)}`)}>{texts.toTranslations}</a>
        )}
      </Section>
      <Section title={texts.preferences}>
        <PreferencesForm
          preferences={draft.preferences}
          onPreferences={(preferences) => set({ preferences })}
          disabled={!canWrite}
        />
      </Section>
      <Section title={texts.tracking} isClosed={isSame(draft.tracking, { opens: null, clicks: null })}>
        <TrackingForm tracking={draft.tracking} onTracking={(tracking) => set({ tracking })} disabled={!canWrite} />
      </Section>
      <Section title={texts.workflowReplies} isClosed={draft.takesReplies === null}>
        <p class="field-hint">{texts.workflowRepliesHint}</p>
        <ChoiceField
          label={texts.takesReplies}
          choices={texts.replyChoices}
          value={draft.takesReplies}
          onValue={(takesReplies) => set({ takesReplies })}
          disabled={!canWrite}
        />
      </Section>
      <Section title={texts.payload}>
        <div data-path="payloadSchema">
          <JsonField
            label={texts.payloadSchema}
            hint={texts.payloadSchemaHint}
            value={draft.payloadSchema}
            onValue={(schema) => set({ payloadSchema: isObject(schema) ? schema : null })}
            problem={problems.payloadSchema}
            disabled={!canWrite}
            isObjectWanted
            rows={10}
          />
        </div>
        {draft.payloadSchema === null && canWrite && (
          <div>
            <Button onClick={() => set({ payloadSchema: texts.exampleSchema })}>{texts.startSchema}</Button>
          </div>
        )}
        <CheckField
          label={texts.validatePayload}
          isSwitch
          checked={draft.validatePayload}
          onChecked={(validatePayload) => set({ validatePayload })}
          disabled={!canWrite}
        />
      </Section>
    </div>
  );
}

type TagsFieldProps = {
  tags: string[];
  onTags: (tags: string[]) => void;
  disabled: boolean;
  problem: string | undefined;
};

/** Tags as one text; while it is typed, commas at its end stay. */
function TagsField({ tags, onTags, disabled, problem }: TagsFieldProps) {
  const [text, setText] = useState(tags.join(", "));
  useEffect(() => {
    if (!isSame(tagsOf(text), tags)) {
      setText(tags.join(", "));
    }
  }, [tags]);
  return (
    <TextField
      label={texts.tags}
      hint={texts.tagsHint}
      value={text}
      onValue={(typed) => {
        setText(typed);
        onTags(tagsOf(typed));
      }}
      disabled={disabled}
      problem={problem}
    />
  );
}

function tagsOf(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()))].filter(Boolean);
}
