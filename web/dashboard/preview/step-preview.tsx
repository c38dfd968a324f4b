import type { components } from "../../api/schema.d.ts";
import { Problem } from "../../ui/problem.tsx";
import { Loading } from "../../ui/states.tsx";
import { texts } from "../texts/preview.ts";
import { type ChannelProps, ChatPreview, InAppPreview, PushPreview, SmsPreview, ValuesPreview } from "./channels.tsx";
import { EmailPreview } from "./email.tsx";
import { type PreviewRequest, usePreview } from "./use-preview.ts";

type StepType = components["schemas"]["StepType"];

export type StepPreviewProps = {
  /** Whose translations it has. */
  workflowId: string;
  stepType: PreviewRequest["type"];
  /** What is in the form now. */
  controlValues: Record<string, unknown>;
  payloadSchema: Record<string, unknown> | null;
  /** What templates see. */
  variables: NonNullable<PreviewRequest["previewPayload"]>;
};

const CHANNELS: Partial<Record<StepType, (props: ChannelProps) => preact.JSX.Element>> = {
  email: EmailPreview,
  in_app: InAppPreview,
  sms: SmsPreview,
  push: PushPreview,
  chat: ChatPreview,
};

/** A step as the chosen person would get it, while it is written. */
export function StepPreview({ workflowId, stepType, controlValues, payloadSchema, variables }: StepPreviewProps) {
  const { skip: _, ...values } = controlValues;
  const preview = usePreview({
    workflowId,
    type: stepType,
    controlValues: values,
    payloadSchema,
    previewPayload: variables,
  });
  const Channel = CHANNELS[stepType] ?? ValuesPreview;
  return (
    <section class="preview" aria-label={texts.preview} aria-busy={preview.isLoading}>
      {preview.error !== null && <Problem error={preview.error} onRetry={preview.retry} />}
      {preview.shown === null && Object.keys(preview.problems).length === 0 ? (
        preview.error === null && <Loading />
      ) : (
        <Channel
          stepType={stepType}
          shown={preview.shown ?? {}}
          problems={preview.problems}
          person={variables.subscriber ?? {}}
          isImportant={variables.workflow?.severity === "high"}
        />
      )}
    </section>
  );
}
