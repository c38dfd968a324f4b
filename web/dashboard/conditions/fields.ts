/** Fields that rules can ask about, from the JSON Schema of the variables. */
import { findShape, listMembers, type Schema, typeOf } from "../../ui/code-editor/variables.ts";
import type { Choice } from "../../ui/combobox.tsx";
import type { Subject } from "./model.ts";

const MAX_DEPTH = 4;
const MAX_SHOWN = 30;

export type Field = { path: string; type: string; description: string };

/** All fields at any depth; those of a subject are relative to it. */
export function listFields(variables: Schema | undefined, subject: Subject): Field[] {
  if (variables === undefined) {
    return [];
  }
  if (subject === "previousStep") {
    return listSteps(variables);
  }
  const scope = { root: variables, locals: new Map() };
  const start = subject === "variable" ? variables : (findShape([subject], scope) ?? null);
  return walk(start, variables, "", 0);
}

function walk(shape: Schema | null, root: Schema, prefix: string, depth: number): Field[] {
  return listMembers(shape, root).flatMap((member) => {
    const path = `${prefix}${member.name}`;
    const found = { path, type: member.type, description: member.description };
    const hasMembers = member.type === "object" || member.type === "";
    const inner = hasMembers && depth < MAX_DEPTH ? walk(member.shape, root, `${path}.`, depth + 1) : [];
    return inner.length > 0 ? inner : [found];
  });
}

/** In-app and e-mail steps before this one. */
function listSteps(variables: Schema): Field[] {
  const steps = findShape(["steps"], { root: variables, locals: new Map() }) ?? null;
  const isMessage = (shape: Schema | null) => listMembers(shape, variables).some((one) => one.name === "seen");
  return listMembers(steps, variables)
    .filter((one) => isMessage(one.shape))
    .map((one) => ({ path: one.name, type: "", description: one.description }));
}

/** The type of a field in one word; empty if it is not known. */
export function fieldType(variables: Schema | undefined, subject: Subject, path: string): string {
  if (variables === undefined || path === "") {
    return "";
  }
  const parts = subject === "variable" ? path.split(".") : [subject, ...path.split(".")];
  const shape = findShape(parts, { root: variables, locals: new Map() });
  return shape ? typeOf(shape) : "";
}

/** The fields that fit to what was typed, best first. */
export function suggestFields(fields: readonly Field[], text: string): Choice[] {
  const wanted = text.trim().toLowerCase();
  const fitting = fields.filter((one) => one.path.toLowerCase().includes(wanted));
  const isKnown = fields.some((one) => one.path === text);
  return (isKnown ? fields : fitting).slice(0, MAX_SHOWN).map(({ path, type, description }) => ({
    value: path,
    label: path,
    detail: [type, description].filter(Boolean).join(" · "),
  }));
}
