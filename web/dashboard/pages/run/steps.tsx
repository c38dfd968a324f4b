import { useState } from "preact/hooks";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { MessageStatus, MessageView } from "../../message/message.tsx";
import { headlineOf, type Message, recipientOf } from "../../message/model.ts";
import { Decisions } from "../../parts/decisions.tsx";
import { StepStatus } from "../../parts/run-status.tsx";
import { texts } from "../../texts/run.ts";
import { texts as runTexts } from "../../texts/runs.ts";
import { Digest } from "./digest.tsx";
import { groupSteps, type RunData, type StepGroup } from "./model.ts";

/** The timeline: the trigger, and each step with its decisions and messages. */
export function Steps({ data, openMessage }: { data: RunData; openMessage: string }) {
  const groups = groupSteps(data.event.jobs, data.decisions, data.messages);
  return (
    <section class="stack">
      <h2 class="visually-hidden">{texts.timeline}</h2>
      <ol class="run-steps">
        {groups.map((group) => (
          <li key={group.key} class="panel run-step">
            <StepPart group={group} data={data} openMessage={openMessage} />
          </li>
        ))}
      </ol>
      {data.hasMoreMessages && <p class="small quiet">{texts.moreMessages}</p>}
    </section>
  );
}

function StepPart({ group, data, openMessage }: { group: StepGroup; data: RunData; openMessage: string }) {
  const { job } = group;
  const type = job?.step.template.type;
  return (
    <>
      <header class="row spread">
        <h3 class="row">
          {type && <span class="quiet">{runTexts.stepTypes[type]}</span>}
          <bdi>{group.title}</bdi>
        </h3>
        {job && <StepStatus status={job.status} />}
        {!job && group.stepId && <Status tone="plain">{texts.switchedOff}</Status>}
      </header>
      {group.decisions.length > 0 && (
        <Decisions decisions={group.decisions} {...(group.stepId !== undefined && { ofStep: group.stepId })} />
      )}
      {type === "digest" && job && <Digest job={job} event={data.event} />}
      {group.messages.map((message) => (
        <StepMessage key={message._id} message={message} isOpenAtFirst={message._id === openMessage} />
      ))}
    </>
  );
}

/** A message of a step, which is loaded when it is opened. */
function StepMessage({ message, isOpenAtFirst }: { message: Message; isOpenAtFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const recipient = recipientOf(message);
  return (
    <details class="run-message" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="run-message-line">
          <span class="quiet">{texts.message}</span> <bdi>{headlineOf(message)}</bdi>{" "}
          {recipient && <bdi class="small quiet">{texts.messageTo(recipient)}</bdi>}
        </span>
        <span class="row small quiet">
          <MessageStatus message={message} />
          <Time at={message.createdAt} />
        </span>
      </summary>
      {isOpen && <MessageView id={message._id} version={message.updatedAt} />}
    </details>
  );
}
