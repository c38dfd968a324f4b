import { CheckField, optionsOf, SelectField, TextField } from "../../../ui/field.tsx";
import { SubscriberPicker, TopicPicker, WorkflowPicker } from "../../parts/pickers.tsx";
import { JsonField } from "../../schema-form/json-field.tsx";
import { texts } from "../../texts/schedules.ts";
import { isObject } from "../../values.ts";
import type { ScheduleForm, ToKind } from "./model.ts";

export type FieldsProps = {
  form: ScheduleForm;
  onForm: (form: ScheduleForm) => void;
  problems: Record<string, string>;
};

/** What is triggered, for whom, when, and with what. */
export function ScheduleFields({ form, onForm, problems }: FieldsProps) {
  return (
    <>
      <TextField
        label={texts.name}
        value={form.name}
        onValue={(name) => onForm({ ...form, name })}
        required
        problem={problems.name}
      />
      <WorkflowPicker
        label={texts.workflow}
        value={form.workflowId}
        onValue={(workflowId) => onForm({ ...form, workflowId })}
        problem={problems.workflowId}
      />
      <RecipientFields form={form} onForm={onForm} problems={problems} />
      <RuleFields form={form} onForm={onForm} problems={problems} />
      <ZoneFields form={form} onForm={onForm} problems={problems} />
      <BoundFields form={form} onForm={onForm} problems={problems} />
      <SelectField
        label={texts.catchUp}
        value={form.catchUp}
        options={optionsOf(texts.catchUps)}
        onValue={(catchUp) => onForm({ ...form, catchUp: catchUp as ScheduleForm["catchUp"] })}
        problem={problems.catchUp}
      />
      <JsonField
        label={texts.payload}
        value={form.payload}
        onValue={(payload) => onForm({ ...form, payload: isObject(payload) ? payload : {} })}
        problem={problems.payload}
        disabled={false}
        isObjectWanted
        rows={4}
      />
    </>
  );
}

function RecipientFields({ form, onForm, problems }: FieldsProps) {
  const of = { value: form.toKey, onValue: (toKey: string) => onForm({ ...form, toKey }), problem: problems.to };
  return (
    <>
      <SelectField
        label={texts.to}
        value={form.toKind}
        options={optionsOf(texts.toKinds)}
        onValue={(toKind) => onForm({ ...form, toKind: toKind as ToKind, toKey: "" })}
        problem={form.toKind === "everyone" ? problems.to : undefined}
      />
      {form.toKind === "topic" && <TopicPicker label={texts.topic} {...of} />}
      {form.toKind === "segment" && <TextField label={texts.segment} hint={texts.segmentHint} required {...of} />}
      {form.toKind === "person" && <SubscriberPicker label={texts.person} {...of} />}
      {form.toKind === "several" && (
        <JsonField
          label={texts.several}
          hint={texts.severalHint}
          value={form.several}
          onValue={(several) => onForm({ ...form, several: Array.isArray(several) ? several : [] })}
          problem={problems.to}
          disabled={false}
          rows={4}
        />
      )}
    </>
  );
}

function RuleFields({ form, onForm, problems }: FieldsProps) {
  const isCron = form.ruleKind === "cron";
  return (
    <>
      <SelectField
        label={texts.rule}
        value={form.ruleKind}
        options={optionsOf(texts.ruleKinds)}
        onValue={(kind) => onForm({ ...form, ruleKind: kind as ScheduleForm["ruleKind"], rule: "" })}
      />
      <TextField
        label={isCron ? texts.cron : texts.rrule}
        hint={isCron ? texts.cronHint : texts.rruleHint}
        value={form.rule}
        onValue={(rule) => onForm({ ...form, rule })}
        required
        autoComplete="off"
        problem={isCron ? problems.cron : problems.rrule}
      />
    </>
  );
}

function ZoneFields({ form, onForm, problems }: FieldsProps) {
  return (
    <>
      <CheckField
        label={texts.ofPerson}
        hint={texts.ofPersonHint}
        checked={form.isOfPerson}
        onChecked={(isOfPerson) => onForm({ ...form, isOfPerson })}
      />
      {form.isOfPerson ? (
        <TextField
          label={texts.fallback}
          hint={texts.timezoneHint}
          value={form.fallbackTimezone}
          onValue={(fallbackTimezone) => onForm({ ...form, fallbackTimezone })}
          problem={problems.fallbackTimezone}
        />
      ) : (
        <TextField
          label={texts.timezone}
          hint={texts.timezoneHint}
          value={form.timezone}
          onValue={(timezone) => onForm({ ...form, timezone })}
          problem={problems.timezone}
        />
      )}
    </>
  );
}

function BoundFields({ form, onForm, problems }: FieldsProps) {
  return (
    <>
      <TextField
        label={texts.from}
        hint={texts.inYourZone}
        type="datetime-local"
        value={form.from}
        onValue={(from) => onForm({ ...form, from })}
        problem={problems.from}
      />
      <TextField
        label={texts.until}
        type="datetime-local"
        value={form.until}
        onValue={(until) => onForm({ ...form, until })}
        problem={problems.until}
      />
    </>
  );
}
