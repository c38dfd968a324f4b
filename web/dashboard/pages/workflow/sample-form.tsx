import { useState } from "preact/hooks";
import { useAction } from "../../../api/action.ts";
import { api, dataOf } from "../../../api/client.ts";
import { useLoaded } from "../../../api/loaded.ts";
import { SelectField } from "../../../ui/field.tsx";
import { relativeText } from "../../../ui/formats.ts";
import { Problem } from "../../../ui/problem.tsx";
import { SubscriberPicker } from "../../parts/pickers.tsx";
import { LanguageField } from "../../preview/language-field.tsx";
import { JsonField } from "../../schema-form/json-field.tsx";
import { useCan } from "../../session.ts";
import { texts } from "../../texts/editor.ts";
import { isObject } from "../../values.ts";
import type { Sample } from "./use-sample.ts";

const RECENT_RUNS = 10;

/** Chooses the person and the payload of the preview: an example, that of a past run, or a typed one. */
export function SampleForm({ workflowId, sample }: { workflowId: string; sample: Sample }) {
  const canReadRuns = useCan("events:read");
  const [source, setSource] = useState("schema");
  const runs = useLoaded(`runs/${workflowId}/${canReadRuns}`, async (signal) => {
    const query = { workflowId: [workflowId], limit: RECENT_RUNS };
    return canReadRuns ? dataOf(await api.GET("/v1/runs", { params: { query }, signal })).data : [];
  });
  const choosing = useAction(async (chosen: string) => {
    setSource(chosen);
    if (chosen === "schema") {
      sample.setPayload(null);
    } else if (chosen === "typed") {
      sample.setPayload(sample.payload);
    } else {
      const path = { notificationId: chosen };
      const run = dataOf(await api.GET("/v1/notifications/{notificationId}", { params: { path } }));
      sample.setPayload(run.payload);
    }
  });
  const options = [
    { value: "schema", label: sample.hasSchema ? texts.sources.schema : texts.sources.texts },
    { value: "typed", label: texts.sources.typed },
    ...(runs.data ?? []).map((run) => ({
      value: run._id,
      label: texts.fromRun(run.subscriber.subscriberId, relativeText(run.createdAt, Date.now())),
    })),
  ];
  return (
    <div class="stack editor-sample">
      <SubscriberPicker
        label={texts.person}
        hint={texts.personHint}
        value={sample.subscriberId}
        onValue={sample.setSubscriberId}
      />
      <LanguageField value={sample.language} onValue={sample.setLanguage} />
      <SelectField
        label={texts.payloadFrom}
        value={source}
        options={options}
        onValue={(chosen) => void choosing.run(chosen)}
      />
      {choosing.error !== null && <Problem error={choosing.error} />}
      <JsonField
        label={texts.payloadText}
        value={sample.payload}
        onValue={(value) => {
          setSource("typed");
          sample.setPayload(isObject(value) ? value : {});
        }}
        isObjectWanted
        disabled={false}
      />
    </div>
  );
}
