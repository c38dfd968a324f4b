import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";
import { CheckField, TextField } from "../../../ui/field.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { texts } from "../../texts/webhooks.ts";

export type EventType = components["schemas"]["EventType"];
export type EndpointForm = { url: string; description: string; eventTypes: EventType[] };

type EndpointFieldsProps = {
  form: EndpointForm;
  onForm: (form: EndpointForm) => void;
  problems: Record<string, string>;
};

/** The address of an endpoint, and the events that it gets; none chosen means all. */
export function EndpointFields({ form, onForm, problems }: EndpointFieldsProps) {
  const types = useLoaded("event-types", async (signal) =>
    dataOf(await api.GET("/v1/webhooks/event-types", { signal })),
  );
  const isAll = form.eventTypes.length === 0;

  function toggle(type: EventType, isChosen: boolean) {
    const others = form.eventTypes.filter((one) => one !== type);
    onForm({ ...form, eventTypes: isChosen ? [...others, type] : others });
  }

  return (
    <>
      <TextField
        label={texts.url}
        hint={texts.urlHint}
        type="url"
        required
        value={form.url}
        onValue={(url) => onForm({ ...form, url })}
        problem={problems.url}
      />
      <TextField
        label={texts.description}
        value={form.description}
        onValue={(description) => onForm({ ...form, description })}
        problem={problems.description}
      />
      <fieldset class="webhooks-events">
        <legend>{texts.events}</legend>
        {types.error !== undefined && <Problem error={types.error} onRetry={types.reload} />}
        <CheckField
          label={texts.allEvents}
          checked={isAll}
          disabled={isAll}
          onChecked={() => onForm({ ...form, eventTypes: [] })}
        />
        {types.data
          ?.filter(({ type }) => type !== "endpoint.test")
          .map(({ type, description }) => (
            <CheckField
              key={type}
              label={<code>{type}</code>}
              hint={description}
              checked={form.eventTypes.includes(type)}
              onChecked={(checked) => toggle(type, checked)}
            />
          ))}
      </fieldset>
    </>
  );
}
