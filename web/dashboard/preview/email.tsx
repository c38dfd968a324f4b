import { headOf, type MailHead } from "../message/model.ts";
import { texts } from "../texts/preview.ts";
import { isObject } from "../values.ts";
import type { ChannelProps } from "./channels.tsx";
import { MailView } from "./mail-view.tsx";
import { OtherProblems, Place, textOf } from "./place.tsx";

/** An e-mail with its head. */
export function EmailPreview({ shown, problems, person }: ChannelProps) {
  const [subject, body] = [textOf(shown.subject), textOf(shown.body)];
  const head = headOf(mailOf(shown), textOf(person.email));
  return (
    <>
      <div class="preview-mail">
        <div class="preview-mail-head">
          <strong dir="auto">
            <Place path="subject" problems={problems}>
              {subject || <span class="quiet">{texts.noSubject}</span>}
            </Place>
          </strong>
          <Place path="preheader" problems={problems}>
            {textOf(shown.preheader) && (
              <p class="small quiet" dir="auto" title={texts.preheader}>
                {textOf(shown.preheader)}
              </p>
            )}
          </Place>
          {head.map(({ path, label, value }) => (
            <p key={path} class="small">
              <span class="quiet">{label}</span>{" "}
              <Place path={path} problems={problems}>
                <bdi>{value}</bdi>
              </Place>
            </p>
          ))}
        </div>
        <Place path="body" problems={problems}>
          {null}
        </Place>
        {body ? <MailView html={htmlOf(body)} /> : <p class="quiet preview-empty">{texts.noBody}</p>}
      </div>
      <OtherProblems problems={problems} places={["subject", "body", "preheader", ...head.map((one) => one.path)]} />
    </>
  );
}

/** What the step says about sender, copies and headers. */
function mailOf(shown: Record<string, unknown>): MailHead {
  return {
    from: textOf(shown.from),
    senderName: textOf(shown.senderName),
    cc: textsOf(shown.cc),
    bcc: textsOf(shown.bcc),
    replyTo: textsOf(shown.replyTo),
    headers: isObject(shown.headers) ? (shown.headers as Record<string, string>) : {},
  };
}

/** A body without any markup is sent as text, whose lines stay. */
function htmlOf(body: string): string {
  const isHtml = /<[A-Za-z/!][^<>]*>|&#?[A-Za-z0-9]{2,31};/.test(body);
  const text = body.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return isHtml ? body : `<div style="white-space: pre-wrap">${text}</div>`;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value : [];
}
