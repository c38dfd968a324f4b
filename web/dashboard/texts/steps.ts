/** Words about kinds of steps, and sentences about what a step does. */
import type { components } from "../../api/schema.d.ts";
import { countText } from "../../ui/formats.ts";

type StepKind = components["schemas"]["StepKind"];

export const texts = {
  about: {
    in_app: "A message in the inbox of the person",
    email: "An email with a subject and HTML",
    sms: "A text message to a phone",
    chat: "A message in Slack, Discord, Teams and others",
    tool: "An alert in PagerDuty, Opsgenie, Grafana OnCall, or a webhook",
    push: "A notification on the devices of the person",
    digest: "Collects events for a while and goes on once with all of them",
    delay: "Waits, then goes on",
    throttle: "Lets a number of events through within a time and ends the others",
    custom: "Values of your application for later steps",
    branch: "Goes on by one of several paths",
    exit: "Ends the run",
    trigger: "Starts another workflow",
    wait_for: "Waits for an event, up to a time",
    update: "Gives messages of an earlier step new content",
    clear: "Withdraws messages of an earlier step",
    http_request: "Calls a URL; later steps see the answer",
    ask: "Asks a question, and waits for the answer",
  } satisfies Record<StepKind, string>,
  marks: {
    in_app: "▤",
    email: "✉",
    sms: "✆",
    chat: "❝",
    push: "◉",
    digest: "≡",
    delay: "◷",
    throttle: "⋔",
    custom: "◇",
    branch: "⎇",
    exit: "⊣",
    tool: "⚑",
    trigger: "↗",
    wait_for: "◔",
    http_request: "⇄",
    ask: "?",
    update: "✎",
    clear: "⌫",
  } satisfies Record<StepKind, string>,

  sayNothing: "Nothing is written yet",
  custom: (count: number) => countText(count, "value", "values"),
  paths: (names: readonly string[]) => (names.length === 0 ? "No path yet" : `Goes on by ${names.join(" or ")}`),
  exit: (reason: string) => (reason ? `Ends the run: ${reason}` : "Ends the run"),
  trigger: (workflow: string) => (workflow ? `Starts ${workflow}` : "Starts a workflow that is not chosen yet"),
  update: (step: string) => (step ? `Changes the messages of ${step}` : "Changes a step that is not chosen yet"),
  clear: (step: string) => (step ? `Withdraws the messages of ${step}` : "Withdraws those of a step not chosen yet"),
  waitFor: (event: string, length: string) =>
    event ? `Waits for ${event}, at most ${length}` : "Waits for an event that is not named yet",
  request: (method: string, url: string) => (url ? `Calls ${method} ${url}` : "Calls a URL that is not set yet"),
  sharedRequest: (sentence: string) => `${sentence}, once for all people of a trigger`,
  ask: (question: string, length: string) =>
    question ? `Asks “${question}”, and waits at most ${length}` : "Asks a question that is not written yet",
  length: (amount: number, unit: string) => `${amount} ${amount === 1 ? unit.replace(/s$/, "") : unit}`,
  unknownLength: "a time that is not set yet",
  digest: (length: string) => `Waits ${length}, then sends one message with everything that came`,
  digestTimed: (cron: string) => `Collects until the next time of ${cron}, then sends one message with everything`,
  byKey: (key: string) => `, separately for each ${key}`,
  slideUpTo: (length: string) => `, anew with each further event for up to ${length}`,
  maxItems: (count: number) => `. It goes on at once with ${count} events`,
  lookBack: (length: string) => `. The first event within ${length} goes on at once`,
  delay: (length: string) => `Waits ${length}, then goes on`,
  delayUntil: (path: string) => `Waits until the moment in ${path}`,
  delayTimed: (cron: string) => `Waits until the next time of ${cron}`,
  delayDynamic: (key: string) => `Waits as ${key} says`,
  throttle: (limit: number, length: string) =>
    `Lets ${limit} ${limit === 1 ? "event" : "events"} through within ${length}, and ends the others`,
  throttleDynamic: (limit: number, key: string) =>
    `Lets ${limit} ${limit === 1 ? "event" : "events"} through within the time in ${key}, and ends the others`,
  extended: ". An end outside the person's schedule waits for it",
};
