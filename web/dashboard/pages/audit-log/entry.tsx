import { Time } from "../../../ui/time.tsx";
import { FieldChanges } from "../../parts/field-changes.tsx";
import { texts } from "../../texts/audit-log.ts";
import { type AuditEntry, changesOf, verbOf } from "./model.ts";

/** One change as a sentence, which opens to the values. */
export function Entry({ entry }: { entry: AuditEntry }) {
  const changes = changesOf(entry.before, entry.after);
  const sentence = (
    <>
      <bdi>
        <strong>{entry.actor.name ?? texts.actors[entry.actor.type]}</strong>
      </bdi>{" "}
      {verbOf(entry.action)} {texts.nouns[entry.target.type]}{" "}
      <bdi>
        <strong>{entry.target.name ?? entry.target.id}</strong>
      </bdi>
    </>
  );
  return (
    <li class="entry">
      <span class="small quiet">
        <Time at={entry.createdAt} />
      </span>
      {changes.length > 0 ? (
        <details>
          <summary>{sentence}</summary>
          <div class="stack entry-details">
            <FieldChanges label={texts.changes} changes={changes} />
            <Facts entry={entry} />
          </div>
        </details>
      ) : (
        <div>
          {sentence}
          <Facts entry={entry} />
        </div>
      )}
    </li>
  );
}

function Facts({ entry }: { entry: AuditEntry }) {
  return (
    <p class="small quiet">
      {texts.actors[entry.actor.type]} · <code>{entry.action}</code>
      {entry.requestId && (
        <>
          {" "}
          · {texts.request} <code>{entry.requestId}</code>
        </>
      )}
    </p>
  );
}
