/** What e-mails of an environment tell of their readers, and where replies go. */
import { CheckField, TextField } from "../../../ui/field.tsx";
import { addressOf } from "../../addresses.ts";
import { texts } from "../../texts/environments.ts";
import type { MailForm } from "./model.ts";

type MailSettingsProps = {
  form: MailForm;
  /** The host of links that was proven when it was saved. */
  provenDomain: string | undefined;
  identifier: string;
  onForm: (form: MailForm) => void;
  problems: Readonly<Record<string, string>>;
};

export function MailSettings({ form, provenDomain, identifier, onForm, problems }: MailSettingsProps) {
  const { tracking, replies } = form;
  const track = (changes: Partial<MailForm["tracking"]>) => onForm({ ...form, tracking: { ...tracking, ...changes } });
  const reply = (changes: Partial<MailForm["replies"]>) => onForm({ ...form, replies: { ...replies, ...changes } });
  const isProven = tracking.domain !== "" && tracking.domain === provenDomain;
  return (
    <>
      <h3>{texts.tracking}</h3>
      <p class="small quiet">{texts.trackingHint}</p>
      <CheckField isSwitch label={texts.opens} checked={tracking.opens} onChecked={(opens) => track({ opens })} />
      <CheckField isSwitch label={texts.clicks} checked={tracking.clicks} onChecked={(clicks) => track({ clicks })} />
      <TextField
        label={texts.trackingDomain}
        hint={texts.trackingDomainHint(tracking.domain || texts.linksExample)}
        placeholder={texts.linksExample}
        value={tracking.domain}
        onValue={(domain) => track({ domain })}
        problem={problems["tracking.domain"] ?? problems.tracking}
      />
      {tracking.domain !== "" && <p class="small">{isProven ? texts.domainProven : texts.domainUnproven}</p>}
      <h3>{texts.replies}</h3>
      <p class="small quiet">{texts.repliesHint}</p>
      <CheckField
        isSwitch
        label={texts.repliesEnabled}
        checked={replies.enabled}
        onChecked={(enabled) => reply({ enabled })}
      />
      <TextField
        label={texts.repliesDomain}
        hint={texts.repliesDomainHint}
        placeholder={texts.repliesExample}
        value={replies.domain}
        onValue={(domain) => reply({ domain })}
        problem={problems["replies.domain"] ?? problems.replies}
      />
      <p class="small">
        <a href={addressOf(identifier, "/integrations")}>{texts.toHooks}</a>
      </p>
    </>
  );
}
