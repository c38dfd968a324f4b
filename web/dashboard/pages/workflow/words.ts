/** What a step does, in a sentence. */
import { texts } from "../../texts/steps.ts";
import { isObject, type JsonObject } from "../../values.ts";
import type { DraftStep, StepKind } from "./model.ts";
import { namedPaths } from "./paths.ts";

/** Of a step in the editor, whose paths are beside its values. */
export function describeDraft(step: DraftStep): string {
  return describeStep(step.type, step.paths ? { paths: namedPaths(step) } : step.controlValues);
}

export function describeStep(type: StepKind, values: JsonObject): string {
  switch (type) {
    case "digest":
      return describeDigest(values);
    case "delay":
      return describeDelay(values) + extension(values);
    case "throttle":
      return describeThrottle(values);
    case "branch":
      return texts.paths(pathNames(values));
    case "exit":
      return texts.exit(textAt(values, "reason"));
    case "trigger":
      return texts.trigger(textAt(values, "workflowId"));
    case "wait_for":
      return texts.waitFor(textAt(values, "event"), lengthOf(isObject(values.timeout) ? values.timeout : {}));
    case "update":
      return texts.update(textAt(values, "ofStep"));
    case "clear":
      return texts.clear(textAt(values, "ofStep"));
    case "http_request":
      return describeRequest(values);
    case "ask":
      return texts.ask(textAt(values, "question"), lengthOf(isObject(values.timeout) ? values.timeout : {}));
    case "custom":
      return texts.custom(Object.keys(values).filter((name) => name !== "skip").length);
    default:
      return textAt(values, "subject") || plainText(textAt(values, "body")) || texts.sayNothing;
  }
}

function describeRequest(values: JsonObject): string {
  const sentence = texts.request(textAt(values, "method") || "POST", textAt(values, "url"));
  return values.share === "trigger" ? texts.sharedRequest(sentence) : sentence;
}

function pathNames(values: JsonObject): string[] {
  const paths = Array.isArray(values.paths) ? values.paths.filter(isObject) : [];
  return paths.map((path) => textAt(path, "name"));
}

function describeDigest(values: JsonObject): string {
  const cron = textAt(values, "cron");
  const isTimed = values.type === "timed" || (values.type === undefined && cron !== "" && values.amount === undefined);
  const key = textAt(values, "digestKey");
  return [
    isTimed ? texts.digestTimed(cron) : texts.digest(textAt(values, "dynamicKey") || lengthOf(values)),
    isObject(values.slideUpTo) && texts.slideUpTo(lengthOf(values.slideUpTo)),
    key && texts.byKey(key),
    typeof values.maxItems === "number" && texts.maxItems(values.maxItems),
    isObject(values.lookBackWindow) && texts.lookBack(lengthOf(values.lookBackWindow)),
    extension(values),
  ]
    .filter(Boolean)
    .join("");
}

function describeDelay(values: JsonObject): string {
  switch (values.type) {
    case "scheduled":
      return texts.delayUntil(textAt(values, "delayPath"));
    case "timed":
      return texts.delayTimed(textAt(values, "cron"));
    case "dynamic":
      return texts.delayDynamic(textAt(values, "dynamicKey"));
    default:
      return texts.delay(lengthOf(values));
  }
}

function describeThrottle(values: JsonObject): string {
  const limit = typeof values.threshold === "number" ? values.threshold : 1;
  const dynamic = textAt(values, "dynamicKey");
  const isDynamic = values.type === "dynamic" || (values.type === undefined && dynamic !== "");
  const key = textAt(values, "throttleKey");
  const sentence = isDynamic ? texts.throttleDynamic(limit, dynamic) : texts.throttle(limit, lengthOf(values));
  return sentence + (key && texts.byKey(key));
}

function extension(values: JsonObject): string {
  return values.extendToSchedule === true ? texts.extended : "";
}

function lengthOf(values: JsonObject): string {
  const { amount, unit } = values;
  return typeof amount === "number" && typeof unit === "string" ? texts.length(amount, unit) : texts.unknownLength;
}

function textAt(values: JsonObject, name: string): string {
  const value = values[name];
  return typeof value === "string" ? value : "";
}

/** Markup without its tags, as far as one line shows it. */
function plainText(text: string): string {
  return text
    .slice(0, 500)
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}
