/**
 * Two people changed one document of blocks: what each of them changed, block by block. A block is the same one as
 * before if it has the same `id` or `columnId`; without one, if its content is the same, wherever it stands now; else
 * if it has the same type, stands between the same blocks, and is the one there that is most alike.
 */
import { commonOrder, findKeyed, inOrder, keysOf } from "../document/keyed.ts";
import { type Difference, findDifference, type Side, type Versions } from "../document/merge.ts";
import { blockName, texts } from "../texts/blocks.ts";
import { readStored, type StoredNode } from "./stored.ts";

type Choices = Record<string, Side>;
type Whole = Pick<Difference, "id" | "field" | "node" | "base" | "mine" | "theirs">;

/** A block in three versions; `plan` if both changed something in it, so that its own blocks are told apart. */
type Part = {
  key: string;
  versions: Versions<StoredNode | undefined>;
  difference: Difference | null;
  plan: Plan | null;
};
type Plan = { parts: Part[]; order: Difference | null; mine: Keyed[]; theirs: Keyed[] };

/** The differences of the blocks of a text, if both changed it and it is a document in all versions. */
export function findBlockDifferences(whole: Whole): Difference[] | null {
  const root = planText(whole);
  return root && listDifferences(root);
}

/** The text with each block as chosen. */
export function mergeBlocks(whole: Whole, choices: Choices): string | null {
  const root = planText(whole);
  const merged = root && mergePart(root, choices);
  return merged ? JSON.stringify(merged) : null;
}

function planText(whole: Whole): Part | null {
  const [base, mine, theirs] = [whole.base, whole.mine, whole.theirs].map((text) =>
    typeof text === "string" ? readStored(text) : null,
  );
  return base && mine && theirs ? planPart("doc", { base, mine, theirs }, whole) : null;
}

function planPart(key: string, versions: Versions<StoredNode | undefined>, whole: Whole): Part {
  const { base, mine, theirs } = versions;
  const id = key === "doc" ? whole.id : `${whole.id}/${key}`;
  const found = findDifference(whole.field, versions, whole.node);
  const difference = found && { ...found, id, part: titleOf(mine ?? theirs ?? base) };
  if (difference?.changedBy !== "both" || !base || !mine || !theirs || !(isBox(base) && isBox(mine) && isBox(theirs))) {
    return { key, versions, difference, plan: null };
  }
  const shells = { base: shellOf(base), mine: shellOf(mine), theirs: shellOf(theirs) };
  const outer = findDifference(whole.field, shells, whole.node);
  const plan = planContent({ base, mine, theirs }, { ...whole, id });
  return { key, versions, difference: outer && { ...outer, id: `${id}/shell`, part: difference.part }, plan };
}

function planContent({ base, mine, theirs }: Versions<StoredNode>, whole: Whole): Plan {
  const before = (base.content ?? []).map((node, index) => ({ key: String(index), node }));
  const all = {
    base: before,
    mine: matchBlocks(before, mine.content ?? [], "mine"),
    theirs: matchBlocks(before, theirs.content ?? [], "theirs"),
  };
  const lists = [all.base, all.mine, all.theirs];
  const parts = keysOf(...lists).map((key) => {
    const [first, second, third] = lists.map((list) => findKeyed(list, key)?.node);
    return planPart(key, { base: first, mine: second, theirs: third }, whole);
  });
  const [now, my, their] = lists.map((list) => commonOrder(list, ...lists));
  const order = findDifference(whole.field, { base: now, mine: my, theirs: their }, whole.node);
  return { parts, order: order && { ...order, id: `${whole.id}/order`, part: texts.order }, ...all };
}

function listDifferences({ difference, plan }: Part): Difference[] {
  const inner = plan ? [...plan.parts.flatMap(listDifferences), ...(plan.order ? [plan.order] : [])] : [];
  return [...(difference ? [difference] : []), ...inner];
}

function mergePart({ versions, difference, plan }: Part, choices: Choices): StoredNode | undefined {
  const { mine, theirs } = versions;
  const chosen = difference && choices[difference.id] === "mine" ? mine : theirs;
  if (!plan || !chosen) {
    return chosen;
  }
  const isMyOrder = plan.order !== null && choices[plan.order.id] === "mine";
  const [first, second] = isMyOrder ? [plan.mine, plan.theirs] : [plan.theirs, plan.mine];
  const kept = plan.parts.flatMap((part) => {
    const node = mergePart(part, choices);
    return node ? [{ key: part.key, node }] : [];
  });
  return { ...chosen, content: inOrder(kept, first, second).map(({ node }) => node) };
}

type Keyed = { key: string; node: StoredNode };

/** The blocks of a version with the keys of those that they were before. */
function matchBlocks(before: readonly Keyed[], now: readonly StoredNode[], side: Side): Keyed[] {
  const places = new Map<string, number>();
  const taken = new Set<number>();
  const take = (index: number, key: string) => {
    places.set(key, index);
    taken.add(index);
  };
  const written = now.map((node) => JSON.stringify(node));
  matchIds(before, now, take);
  for (const { key, node } of before.filter((one) => !places.has(one.key))) {
    const text = JSON.stringify(node);
    const index = written.findIndex((one, at) => one === text && !taken.has(at));
    if (index >= 0) {
      take(index, key);
    }
  }
  before.forEach(({ key, node }, index) => {
    if (!places.has(key)) {
      const text = JSON.stringify(node);
      const start =
        before
          .slice(0, index)
          .flatMap((one) => places.get(one.key) ?? [])
          .at(-1) ?? -1;
      const end = before.slice(index).flatMap((one) => places.get(one.key) ?? [])[0] ?? now.length;
      const between = now.map((_, at) => at).filter((at) => at > start && at < end && !taken.has(at));
      const alike = between.filter((at) => now[at]?.type === node.type);
      const [best] = alike.toSorted((one, other) => likeness(written[other], text) - likeness(written[one], text));
      if (best !== undefined) {
        take(best, key);
      }
    }
  });
  const keys = new Map([...places].map(([key, index]) => [index, key]));
  return now.map((node, index) => ({ key: keys.get(index) ?? `${side}${index}`, node }));
}

/** How many letters two texts have in common at their start and their end. */
function likeness(one = "", other = ""): number {
  const length = Math.min(one.length, other.length);
  let start = 0;
  while (start < length && one[start] === other[start]) {
    start += 1;
  }
  let end = 0;
  while (end < length - start && one.at(-1 - end) === other.at(-1 - end)) {
    end += 1;
  }
  return start + end;
}

/** Match the blocks that have the same id in both lists, once in each. */
function matchIds(
  before: readonly Keyed[],
  now: readonly StoredNode[],
  take: (index: number, key: string) => void,
): void {
  const [old, ids] = [before.map(({ node }) => idOf(node)), now.map(idOf)];
  before.forEach(({ key }, index) => {
    const id = old[index] ?? null;
    if (id !== null && [old, ids].every((list) => list.filter((one) => one === id).length === 1)) {
      take(ids.indexOf(id), key);
    }
  });
}

/** The `id` of a variable is its name. */
function idOf({ type, attrs }: StoredNode): string | null {
  const id = attrs?.columnId ?? (type === "variable" ? undefined : attrs?.id);
  return typeof id === "string" && id !== "" ? id : null;
}

const BOXES = [
  "doc",
  "section",
  "columns",
  "column",
  "repeat",
  "for",
  "blockquote",
  "bulletList",
  "orderedList",
  "listItem",
];

function isBox(node: StoredNode): boolean {
  return BOXES.includes(node.type);
}

function shellOf({ content: _, ...shell }: StoredNode): StoredNode {
  return shell;
}

function titleOf(node: StoredNode | undefined): string {
  return blockName(node?.type ?? "");
}
