/** The preview of each channel but email: its card, with the server's sentences where a text cannot be rendered. */
import type { components } from "../../api/schema.d.ts";
import { Json } from "../../ui/json.tsx";
import { KeyValues } from "../../ui/key-values.tsx";
import { ChatCard, InAppCard, Marked, PushCard, SmsCard } from "../message/cards.tsx";
import type { MessageButton } from "../message/model.ts";
import { describeStep } from "../pages/workflow/words.ts";
import { texts } from "../texts/preview.ts";
import { isObject } from "../values.ts";
import { OtherProblems, Place, textOf } from "./place.tsx";
import { countSms } from "./sms.ts";

export type ChannelProps = {
  stepType: components["schemas"]["StepType"];
  /** The rendered controls. */
  shown: Record<string, unknown>;
  problems: Readonly<Record<string, string>>;
  person: Record<string, unknown>;
  /** Whether the inbox marks messages of the workflow. */
  isImportant: boolean;
};

const IN_APP_PLACES = ["subject", "body", "avatar", "primaryAction", "secondaryAction"];

export function InAppPreview({ shown, problems, isImportant }: ChannelProps) {
  const actions = (["primary", "secondary"] as const).flatMap((kind) => readAction(kind, shown[`${kind}Action`]));
  const address = addressOf(shown.redirect);
  return (
    <>
      <InAppCard
        subject={
          <Place path="subject" problems={problems}>
            <Marked text={textOf(shown.subject)} />
          </Place>
        }
        body={
          <Place path="body" problems={problems}>
            {textOf(shown.body) ? <Marked text={textOf(shown.body)} /> : <Nothing />}
          </Place>
        }
        avatar={textOf(shown.avatar)}
        buttons={actions}
        when={texts.now}
        isImportant={isImportant}
      >
        {["avatar", "primaryAction", "secondaryAction"].map((path) => (
          <Place key={path} path={path} problems={problems}>
            {null}
          </Place>
        ))}
      </InAppCard>
      <OtherProblems problems={problems} places={IN_APP_PLACES} />
      <ul class="preview-links small quiet">
        {address && <li>{texts.opens(address)}</li>}
        {actions.map((one) => one.address && <li key={one.kind}>{texts.actionOpens(one.label, one.address)}</li>)}
      </ul>
      {shown.data !== undefined && <Json label={texts.data} value={shown.data} />}
    </>
  );
}

function readAction(kind: MessageButton["kind"], action: unknown): (MessageButton & { address: string })[] {
  const label = isObject(action) ? textOf(action.label) : "";
  return isObject(action) && label ? [{ kind, label, address: addressOf(action.redirect) }] : [];
}

function addressOf(redirect: unknown): string {
  return isObject(redirect) ? textOf(redirect.url) : "";
}

export function SmsPreview({ shown, problems, person }: ChannelProps) {
  const body = textOf(shown.body);
  const count = countSms(body);
  return (
    <>
      <SmsCard to={<bdi>{textOf(person.phone) || texts.to}</bdi>}>
        <Place path="body" problems={problems}>
          {body || <Nothing />}
        </Place>
      </SmsCard>
      <OtherProblems problems={problems} places={["body"]} />
      <KeyValues
        values={[
          [texts.length, texts.smsCount(count.characters)],
          [texts.encoding, count.encoding],
          [texts.parts, `${texts.smsParts(count.parts)}, ${texts.smsUsed(count.used, count.limit)}`],
        ]}
      />
      {count.special.length > 0 && <p class="small quiet">{texts.smsSpecial(count.special.join(" "))}</p>}
    </>
  );
}

export function PushPreview({ shown, problems }: ChannelProps) {
  const title = (
    <Place path="subject" problems={problems}>
      {textOf(shown.subject) || <span class="quiet">{texts.noSubject}</span>}
    </Place>
  );
  return (
    <>
      <PushCard title={title} when={texts.now}>
        <Place path="body" problems={problems}>
          {textOf(shown.body) || <Nothing />}
        </Place>
      </PushCard>
      <OtherProblems problems={problems} places={["subject", "body"]} />
      {shown.data !== undefined && <Json label={texts.data} value={shown.data} />}
    </>
  );
}

export function ChatPreview({ shown, problems }: ChannelProps) {
  return (
    <>
      <ChatCard>
        <Place path="body" problems={problems}>
          {textOf(shown.body) || <Nothing />}
        </Place>
      </ChatCard>
      <OtherProblems problems={problems} places={["body"]} />
    </>
  );
}

/** Steps that send nothing: what they do in words, and their values. */
export function ValuesPreview({ stepType, shown, problems }: ChannelProps) {
  return (
    <>
      {stepType !== "trigger" && <p>{describeStep(stepType, shown)}</p>}
      <OtherProblems problems={problems} places={[]} />
      {Object.keys(shown).length > 0 && <Json label={texts.values} value={shown} />}
    </>
  );
}

function Nothing() {
  return <span class="quiet">{texts.noBody}</span>;
}
