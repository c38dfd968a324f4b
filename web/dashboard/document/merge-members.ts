/** Members as they were chosen; a text that both changed, and that is a document of blocks, block by block. */
import { findBlockDifferences, mergeBlocks } from "../blocks/merge.ts";
import type { Choices, Difference } from "./merge.ts";

/** Differences of documents of blocks that both changed as those of their blocks. */
export function tellBlocksApart(differences: readonly Difference[]): Difference[] {
  return differences.flatMap((one) => (one.changedBy === "both" && findBlockDifferences(one)) || [one]);
}

/** Theirs with the members that are to be mine; a member that I removed is removed. */
export function withMine<Part extends object>(
  theirs: Part,
  differences: readonly Difference[],
  choices: Choices,
): Part {
  const merged = { ...theirs };
  for (const difference of differences) {
    const { id, field, mine, changedBy } = difference;
    const blocks = changedBy === "both" ? mergeBlocks(difference, choices) : null;
    if (blocks === null && choices[id] !== "mine") {
      continue;
    }
    if (blocks === null && mine === undefined) {
      delete merged[field as keyof Part];
    } else {
      Object.assign(merged, { [field]: blocks ?? mine });
    }
  }
  return merged;
}
