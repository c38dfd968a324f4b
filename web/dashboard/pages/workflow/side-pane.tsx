import { api, dataOf } from "../../../api/client.ts";
import { useUrlState } from "../../../api/url-state.ts";
import { lazyComponent } from "../../../ui/lazy.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { StepPreview } from "../../preview/step-preview.tsx";
import { TestEmail } from "../../preview/test-email.tsx";
import type { TestRequestProps } from "../../preview/test-request.tsx";
import { NotLoaded } from "../../shell/lazy-page.tsx";
import type { TestPanelProps } from "../../test-panel/test-panel.tsx";
import { texts } from "../../texts/editor.ts";
import type { DraftStep } from "./model.ts";
import { partOf, useEditorAddress } from "./parts.tsx";
import { SampleForm } from "./sample-form.tsx";
import { stepBodiesOf } from "./saved.ts";
import { isMessage } from "./step-controls.tsx";
import type { Editor } from "./use-editor.ts";
import type { Sample } from "./use-sample.ts";
import { SAMPLE_EVENTS, sampleOf } from "./variables.ts";
import { describeDraft } from "./words.ts";

type SidePaneProps = { editor: Editor; step: DraftStep | undefined; sample: Sample };

const TestRequest = lazyComponent<TestRequestProps>(() => import("../../preview/test-request.tsx"), NotLoaded);
const TestPanel = lazyComponent<TestPanelProps>(() => import("../../test-panel/test-panel.tsx"), NotLoaded);

/** What the step sends to a chosen person, and trying the whole workflow. */
export function SidePane({ editor, step, sample }: SidePaneProps) {
  const state = useUrlState();
  const part = partOf(state);
  const address = useEditorAddress();
  const isTest = part === "test";
  const tabs = (["preview", "test"] as const).map((one) => ({
    href: address({ part: one }),
    label: texts.partNames[one],
    isCurrent: (one === "test") === isTest,
  }));
  return (
    <section class="editor-side" aria-label={texts.side}>
      <div class="editor-side-tabs">
        <Tabs label={texts.side} tabs={tabs} />
      </div>
      {isTest ? (
        <TestPanel
          workflowId={editor.saved.workflowId}
          payloadSchema={editor.draft.payloadSchema ?? undefined}
          unsavedSteps={editor.isDirty ? stepBodiesOf(editor.draft.steps) : undefined}
          subscriberId={sample.subscriberId}
          onSubscriberId={sample.setSubscriberId}
          payload={sample.payload}
          onPayload={sample.setPayload}
        />
      ) : (
        <div class="stack">
          <Preview key={state.get("step")} editor={editor} step={step} sample={sample} />
          <SampleForm workflowId={editor.saved.workflowId} sample={sample} />
        </div>
      )}
    </section>
  );
}

function Preview({ editor, step, sample }: SidePaneProps) {
  if (!step) {
    return <p class="quiet">{texts.choosePreview}</p>;
  }
  const { draft, saved } = editor;
  const assumed = sampleOf(step, draft, saved.workflowId, sample.payload);
  const { skip: _, ...controlValues } = step.controlValues;
  if (!isMessage(step.type)) {
    return (
      <div class="stack">
        <p>{describeDraft(step)}</p>
        {step.type === "http_request" ? (
          <TestRequest request={{ controlValues, previewPayload: { ...sample.variables, ...assumed } }} />
        ) : (
          <p class="quiet">{texts.waits}</p>
        )}
      </div>
    );
  }
  const request = {
    workflowId: saved.workflowId,
    controlValues,
    payloadSchema: draft.validatePayload ? draft.payloadSchema : null,
    previewPayload: { ...sample.variables, ...assumed },
  };
  return (
    <>
      <StepPreview stepType={step.type} request={request} />
      {assumed.step.digest && <p class="small quiet">{texts.sampleDigest(SAMPLE_EVENTS)}</p>}
      {sample.subscriberId === "" && <p class="small quiet">{texts.noPerson}</p>}
      {!sample.isKnown && <p class="small quiet">{texts.unknownPerson}</p>}
      {step.type === "email" && (
        <TestEmail send={async () => dataOf(await api.POST("/v1/workflows/steps/test-email", { body: request }))} />
      )}
    </>
  );
}
