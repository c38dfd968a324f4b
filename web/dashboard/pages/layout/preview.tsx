import { useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Loading } from "../../../ui/states.tsx";
import { SubscriberPicker } from "../../parts/pickers.tsx";
import { LanguageField } from "../../preview/language-field.tsx";
import { MailView } from "../../preview/mail-view.tsx";
import { TestEmail } from "../../preview/test-email.tsx";
import { usePerson } from "../../preview/use-person.ts";
import { useRendered } from "../../preview/use-rendered.ts";
import { useCan } from "../../session.ts";
import { texts } from "../../texts/layouts.ts";
import { texts as previewTexts } from "../../texts/preview.ts";
import { bodyOf, type LayoutDraft } from "./model.ts";

/** The layout around a box, while it is written. */
export function LayoutPreview({ layoutId, draft }: { layoutId: string; draft: LayoutDraft }) {
  const canReadPeople = useCan("subscribers:read");
  const [subscriberId, setSubscriberId] = useState("");
  const [language, setLanguage] = useState("");
  const { variables } = usePerson(subscriberId);
  const body = {
    controlValues: bodyOf(draft).controlValues ?? {},
    previewPayload: { subscriber: language ? { ...variables, locale: language } : variables },
  };
  const rendered = useRendered(body, async (signal) => {
    const params = { path: { layoutId } };
    return dataOf(await api.POST("/v2/layouts/{layoutId}/preview", { params, body, signal }));
  });
  const html = rendered.data?.result.preview?.body;
  const missing = rendered.data?.missingTexts ?? [];
  const { controls = {}, warnings = {} } = rendered.data?.issues ?? {};
  const issues = [...Object.values(controls), ...Object.values(warnings)].flat().map((issue) => issue.message);
  const problems = missing.length > 0 ? [...issues, previewTexts.missingTexts(missing)] : issues;
  return (
    <section class="layout-side stack" aria-label={texts.preview} aria-busy={rendered.isLoading}>
      {rendered.error !== null && <Problem error={rendered.error} onRetry={rendered.retry} />}
      {problems.map((problem) => (
        <p key={problem} class="preview-problem" role="status">
          {problem}
        </p>
      ))}
      {rendered.data === undefined && rendered.error === null && <Loading />}
      {html && (
        <div class="preview-mail">
          <MailView html={html} />
        </div>
      )}
      {rendered.data && !html && issues.length === 0 && <p class="quiet">{texts.noPreview}</p>}
      {canReadPeople && (
        <SubscriberPicker
          label={texts.previewPerson}
          hint={texts.previewPersonHint}
          value={subscriberId}
          onValue={setSubscriberId}
        />
      )}
      <LanguageField value={language} onValue={setLanguage} />
      <TestEmail
        send={async () => {
          const params = { path: { layoutId } };
          return dataOf(await api.POST("/v2/layouts/{layoutId}/test-email", { params, body }));
        }}
      />
    </section>
  );
}
