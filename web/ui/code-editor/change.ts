export type Change = { from: number; to: number; insert: string };

/** The smallest single change that makes one text of another, so that cursors outside of it stay; null if they are equal. */
export function findChange(before: string, after: string): Change | null {
  if (before === after) {
    return null;
  }
  const limit = Math.min(before.length, after.length);
  let start = 0;
  while (start < limit && before[start] === after[start]) {
    start += 1;
  }
  let end = 0;
  while (end < limit - start && before[before.length - 1 - end] === after[after.length - 1 - end]) {
    end += 1;
  }
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
