/** Texts about what a change of a workflow would mean. */
import { countText } from "../../ui/formats.ts";

const runs = (count: number, isCapped: boolean) => countText(count, "run", "runs") + (isCapped ? " or more" : "");

export const texts = {
  title: "What the change means",
  hint: "The workflow is active in Production. This is what is under way, and what the last triggers would send.",
  save: "Save the change",
  notSaved: "Nothing was saved; the draft is as it was.",
  waiting: "Runs under way",
  noneWaiting: "No run is under way.",
  follows: (count: number, isCapped: boolean, step: string) =>
    `${runs(count, isCapped)} at ${step}: they go on with the change`,
  keeps: (count: number, isCapped: boolean, step: string, version: number) =>
    `${runs(count, isCapped)} at ${step}: they keep version ${version}`,
  problems: "Problems",
  problem: (step: string, path: string, message: string) => `${step}, ${path}: ${message}`,
  empty: "Values that the last triggers do not have",
  emptyVariable: (variable: string, step: string, missing: number, all: number) =>
    `${variable} in ${step}: missing in ${missing} of ${all}`,
  triggers: "The last triggers, before and after",
  noTriggers: "There was no trigger lately that could be tried.",
  same: (count: number) => `${countText(count, "trigger", "triggers")} would send the same as now.`,
  differs: (transaction: string, subscriber: string) => `${transaction} for ${subscriber}`,
  before: "Now",
  after: "After",
  nothing: "No message",
  cut: "Trying them took too long; the rest is left out.",
};
