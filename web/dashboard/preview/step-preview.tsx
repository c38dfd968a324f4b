import type { components } from "../../api/schema.d.ts";
import { Problem } from "../../ui/problem.tsx";
import { Loading } from "../../ui/states.tsx";
import { texts } from "../texts/preview.ts";
import { type ChannelProps, ChatPreview, InAppPreview, PushPreview, SmsPreview, ValuesPreview } from "./channels.tsx";
import { EmailPreview } from "./email.tsx";
import { type PreviewRequest, usePreview } from "./use-preview.ts";

type StepType = components["schemas"]["StepType"];

export type StepPreviewProps = {
  stepType: PreviewRequest["type"];
  /** The step as it is in the form, and what its templates see. */
  request: Omit<PreviewRequest, "type">;
};

const CHANNELS: Partial<Record<StepType, (props: ChannelProps) => preact.JSX.Element>> = {
  email: EmailPreview,
  in_app: InAppPreview,
  sms: SmsPreview,
  push: PushPreview,
  chat: ChatPreview,
};

/** A step as the chosen person would get it, while it is written. */
export function StepPreview({ stepType, request }: StepPreviewProps) {
  const preview = usePreview({ ...request, type: stepType });
  const Channel = CHANNELS[stepType] ?? ValuesPreview;
  return (
    <section class="preview" aria-label={texts.preview} aria-busy={preview.isLoading}>
      {preview.error !== null && <Problem error={preview.error} onRetry={preview.retry} />}
      {preview.missingTexts.length > 0 && (
        <p class="preview-problem" role="status">
          {texts.missingTexts(preview.missingTexts)}
        </p>
      )}
      {preview.shown === null && Object.keys(preview.problems).length === 0 ? (
        preview.error === null && <Loading />
      ) : (
        <Channel
          stepType={stepType}
          shown={preview.shown ?? {}}
          problems={preview.problems}
          person={request.previewPayload?.subscriber ?? {}}
          isImportant={request.previewPayload?.workflow?.severity === "high"}
        />
      )}
    </section>
  );
}
