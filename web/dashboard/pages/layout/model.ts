/** A layout while it is edited, and merging it with what somebody else has saved. */
import type { components } from "../../../api/schema.d.ts";
import { type Choices, type Difference, findMemberDifferences, rebaseChoices } from "../../document/merge.ts";
import { tellBlocksApart, withMine } from "../../document/merge-members.ts";

type Schemas = components["schemas"];
export type Layout = Schemas["Layout"];
export type EditorType = Schemas["EditorType"];

export type LayoutDraft = { name: string; body: string; editorType: EditorType; isTranslationEnabled: boolean };

const FIELDS = ["name", "body", "editorType", "isTranslationEnabled"] as const;

export function draftOf({ name, isTranslationEnabled, controls }: Layout): LayoutDraft {
  const { body = "", editorType = "html" } = controls.values.email ?? {};
  return { name, body, editorType, isTranslationEnabled };
}

/** The request that saves a draft; without a body there is nothing around e-mails. */
export function bodyOf({ name, body, editorType, isTranslationEnabled }: LayoutDraft): Schemas["LayoutPut"] {
  return { name, isTranslationEnabled, controlValues: body === "" ? null : { email: { body, editorType } } };
}

export function findDifferences(base: LayoutDraft, mine: LayoutDraft, theirs: LayoutDraft): Difference[] {
  return tellBlocksApart(listDifferences(base, mine, theirs));
}

export function applyChoices(base: LayoutDraft, mine: LayoutDraft, theirs: LayoutDraft, choices: Choices): LayoutDraft {
  return withMine(theirs, listDifferences(base, mine, theirs), choices);
}

function listDifferences(base: LayoutDraft, mine: LayoutDraft, theirs: LayoutDraft): Difference[] {
  return findMemberDifferences<LayoutDraft>(FIELDS, { base, mine, theirs });
}

/** What was typed while a save was under way, put on what was saved. */
export function rebase(sent: LayoutDraft, current: LayoutDraft, made: LayoutDraft): LayoutDraft {
  return applyChoices(sent, current, made, rebaseChoices(findDifferences(sent, current, made)));
}
