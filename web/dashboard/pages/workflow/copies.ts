/** Copies of steps: beside the first, or kept until they are put into a path or another workflow. */
import { kebab } from "../../values.ts";
import { type Draft, type DraftStep, freeName } from "./model.ts";
import { insertSteps, type Place, placeOf, subtreeOf } from "./tree.ts";

const KEY = "clarion-copied-steps";

/** Steps of their own with the content of others: a step and what is within it, which asks about its own copies. */
export function copiesOf(subtree: readonly DraftStep[], steps: readonly DraftStep[]): DraftStep[] {
  const [ids, keys] = [new Set(steps.map((step) => step.stepId)), new Set(steps.map((step) => step.key))];
  const made = new Map<string, { key: string; stepId: string }>();
  for (const step of subtree) {
    const stepId = freeName(kebab(step.name) || kebab(step.type), ids);
    const key = freeName(`new-${stepId}`, keys);
    ids.add(stepId);
    keys.add(key);
    made.set(step.key, { key, stepId });
  }
  const names = new Map(
    subtree.flatMap((step) => [step.stepId, step._id ?? []].flat().map((id) => [id, made.get(step.key)?.stepId ?? id])),
  );
  return subtree.map(({ _id: _, within, ...step }) => {
    const branch = within && made.get(within.branch);
    return {
      ...renamed(step, names),
      variants: step.variants.map(({ _id: __, ...variant }, at) => renamed({ ...variant, key: `new-${at}` }, names)),
      ...made.get(step.key),
      ...(within && branch && { within: { branch: branch.key, path: within.path } }),
    };
  });
}

/** What texts and conditions say of steps that were copied along, with the identifiers of the copies. */
function renamed<Part>(part: Part, names: ReadonlyMap<string, string>): Part {
  const text = JSON.stringify(part)
    .replaceAll(/\bsteps\.([A-Za-z0-9_-]+)/g, (all, id) => (names.has(id) ? `steps.${names.get(id)}` : all))
    .replaceAll(/"step":"([^"\\]*)"/g, (all, id) => (names.has(id) ? `"step":"${names.get(id)}"` : all));
  return JSON.parse(text);
}

/** Put a copy behind a step. */
export function duplicateStep(draft: Draft, key: string): { draft: Draft; key: string } {
  const copies = copiesOf(subtreeOf(draft.steps, key), draft.steps);
  const { within, index } = placeOf(draft.steps, key);
  return { draft: insertSteps(draft, { within, index: index + 1 }, copies), key: copies[0]?.key ?? key };
}

export function keepCopied(subtree: readonly DraftStep[]): void {
  sessionStorage.setItem(KEY, JSON.stringify(subtree));
}

/** What was copied last, in this tab; nothing if that is not known. */
export function readCopied(): DraftStep[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
  } catch {
    return [];
  }
}

/** Put a copy of what was copied at a place. */
export function pasteSteps(draft: Draft, place: Place, copied: readonly DraftStep[]): { draft: Draft; key: string } {
  const copies = copiesOf(copied, draft.steps);
  return { draft: insertSteps(draft, place, copies), key: copies[0]?.key ?? "" };
}
