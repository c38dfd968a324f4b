import { CheckField } from "../../../ui/field.tsx";
import { Status, type Tone } from "../../../ui/status.tsx";
import { FieldChanges } from "../../parts/field-changes.tsx";
import { promotion as texts } from "../../texts/environments.ts";
import { fieldsOf, idOf, isChangeable, nameOf, type ResourceDiff } from "./model.ts";

const TONES: Record<ResourceDiff["action"], Tone> = {
  added: "good",
  modified: "warn",
  moved: "warn",
  deleted: "bad",
  unchanged: "plain",
};

type ResourceRowProps = {
  diff: ResourceDiff;
  canChoose: boolean;
  isChosen: boolean;
  onChosen: (isChosen: boolean) => void;
};

/** One workflow or integration that differs; it opens to the fields. */
export function ResourceRow({ diff, canChoose, isChosen, onChosen }: ResourceRowProps) {
  const name = nameOf(diff);
  const changed = diff.changes.filter((change) => change.action !== "unchanged");
  const title = (
    <>
      <bdi>{name}</bdi> <code class="quiet">{idOf(diff)}</code>
    </>
  );
  return (
    <article class="panel stack" aria-label={name}>
      <div class="row spread">
        <div class="row">
          {canChoose && isChangeable(diff) ? (
            <CheckField
              label={
                <>
                  <span class="visually-hidden">{texts.choose("")}</span>
                  {title}
                </>
              }
              checked={isChosen}
              onChecked={onChosen}
            />
          ) : (
            <span>{title}</span>
          )}
        </div>
        <div class="row">
          <span class="small quiet">{texts.kinds[diff.resourceType]}</span>
          <Status tone={TONES[diff.action]}>{texts.actions[diff.action]}</Status>
        </div>
      </div>
      {diff.problem && (
        <p>
          <Status tone="bad">{texts.problem}</Status> {diff.problem}
        </p>
      )}
      {changed.length > 0 && (
        <details>
          <summary>{texts.changes(changed.length)}</summary>
          <div class="stack promotion-changes">
            {changed.map((change, index) => (
              <section key={index} class="stack">
                <h3>
                  {texts.kinds[change.resourceType]} <bdi>{nameOf(change)}</bdi>{" "}
                  <Status tone={TONES[change.action]}>{texts.actions[change.action]}</Status>
                </h3>
                <FieldChanges label={texts.fieldsOf(nameOf(change))} changes={fieldsOf(change)} />
              </section>
            ))}
          </div>
        </details>
      )}
    </article>
  );
}
