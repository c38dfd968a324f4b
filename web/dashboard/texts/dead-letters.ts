/** Words of the page of dead letters. */
import { countText, numberText } from "../../ui/formats.ts";

function letters(count: number): string {
  return countText(count, "dead letter", "dead letters");
}

export const texts = {
  lead: "Messages that were given up after their last attempt. Fix the cause, then redrive them: they are sent with fresh attempts.",
  by: "Grouped by",
  groupings: { reason: "Reason", provider: "Provider", workflow: "Workflow", channel: "Channel" },
  groups: "Groups of dead letters",
  count: "Count",
  countOf: (count: number) => numberText(count),
  total: (count: number, isCapped: boolean) => (isCapped ? `The newest ${letters(count)}.` : `${letters(count)}.`),
  moreGroups: "Smaller groups are left out.",
  several: "A letter with several errors counts for each of them.",
  refresh: "Refresh",
  allGroups: "All groups",
  inGroup: (value: string) => `Dead letters: ${value}`,
  list: "Dead letters",
  when: "Given up",
  person: "Person",
  workflow: "Workflow",
  channel: "Channel",
  provider: "Provider",
  attempts: "Attempts",
  error: "Error",
  maybe: "May have arrived",
  maybeHint: "The provider did not answer, and may have sent it: redriven, it would arrive twice.",
  openOne: (person: string) => `Open the dead letter of ${person}`,
  empty: "No dead letters",
  emptyHint:
    "That is good: no message was given up. One that a provider refuses for good, or after eight attempts, appears here.",
  emptyGroup: "Nothing is left in this group",
  emptyGroupHint: "Its letters were redriven or discarded.",

  redrive: "Redrive",
  redriveAll: "Redrive all",
  redriveGroup: (value: string) => `Redrive ${value}`,
  redriveQuestion: (count: number) => `Redrive ${letters(count)}?`,
  redriveEffect:
    "They are put back in the queue with fresh attempts, the oldest first. Later steps of their runs are not run again. What fails again comes back to this list.",
  redriving: "Redriving",
  redriven: (count: number) => `${letters(count)} put back in the queue`,
  discard: "Discard",
  discardAll: "Discard all",
  discardGroup: (value: string) => `Discard ${value}`,
  discardQuestion: (count: number) => `Discard ${letters(count)}?`,
  discardEffect: "They are taken off the list, and cannot be redriven any more. Their steps stay failed.",
  discardWord: "discard",
  discarding: "Discarding",
  discarded: (count: number) => `${letters(count)} discarded`,
  progress: (done: number, all: number) => `${numberText(done)} of ${numberText(all)}`,
  remaining: (count: number) => `${numberText(count)} left`,
  stop: "Stop",
  close: "Close",
  cancel: "Cancel",
  typed: (word: string) => `Type ${word} to confirm`,

  letter: "Dead letter",
  errors: "Errors",
  transaction: "Transaction",
  created: "Created",
  toRun: "Open the run",
  messages: "Messages that were not sent",
  details: "What happened",
  values: "Values",
};
