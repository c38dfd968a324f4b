/** Two people changed one document: what each of them changed, field by field. */
import { isSame } from "../values.ts";

export type Side = "mine" | "theirs";

/** Something that one of them or both changed; undefined where there is no such field or node. */
export type Difference = {
  id: string;
  /** The key of the node that it belongs to, if it belongs to one. */
  node?: string;
  field: string;
  /** What of the field it is, if it is not all of it. */
  part?: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
  /** Who changed it; if both did, a person has to choose. */
  changedBy: Side | "both";
};

export type Choices = Record<string, Side>;

/** The three states of a document, or of a part of it. */
export type Versions<Part> = { base: Part; mine: Part; theirs: Part };

/** One field that differs between what both started from and what they have now; null if it needs nothing. */
export function findDifference(field: string, values: Versions<unknown>, node?: string): Difference | null {
  const { base, mine, theirs } = values;
  const isMine = !isSame(mine, base);
  const isTheirs = !isSame(theirs, base);
  if (isSame(mine, theirs) || (!isMine && !isTheirs)) {
    return null;
  }
  const changedBy = isMine && isTheirs ? "both" : isMine ? "mine" : "theirs";
  const id = node === undefined ? field : `${node}/${field}`;
  return { id, field, base, mine, theirs, changedBy, ...(node !== undefined && { node }) };
}

/** The differences of some members of objects; an object that is absent has none of them. */
export function findMemberDifferences<Part extends object>(
  names: readonly (keyof Part & string)[],
  { base, mine, theirs }: Versions<Part | undefined>,
  node?: string,
): Difference[] {
  const found = names.map((name) =>
    findDifference(name, { base: base?.[name], mine: mine?.[name], theirs: theirs?.[name] }, node),
  );
  return found.filter((one) => one !== null);
}

/** The names that any of these objects has. */
export function namesOf(...parts: readonly (object | undefined)[]): string[] {
  return [...new Set(parts.flatMap((part) => Object.keys(part ?? {})))];
}

/** The choices that need no question: a change of one of them alone. */
export function plainChoices(differences: readonly Difference[]): Choices {
  const found: Choices = {};
  for (const one of differences) {
    if (one.changedBy !== "both") {
      found[one.id] = one.changedBy;
    }
  }
  return found;
}

/** Choices for what was typed while a save was under way: what the server changed is theirs, everything else mine. */
export function rebaseChoices(differences: readonly Difference[]): Choices {
  return Object.fromEntries(differences.map((one) => [one.id, one.changedBy === "theirs" ? "theirs" : "mine"]));
}
