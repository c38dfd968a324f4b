/** Forms made from a JSON Schema: which fields there are, which of them matter now, and what is missing. */
import { isObject, type JsonObject } from "../values.ts";

export type PlainKind = "text" | "html" | "number" | "flag" | "choice" | "texts" | "pairs" | "json";

type Described = {
  name: string;
  title: string;
  hint?: string;
  placeholder?: string;
  /** Of a choice. */
  options?: readonly string[];
  /** What the server asks to be edited with, such as `EMAIL_BODY`. */
  widget?: string;
  /** Of a number: whether it is a whole one. */
  isWhole?: boolean;
};

export type PlainField = Described & { kind: PlainKind };

/** An object in the object, with its schema. */
export type GroupField = Described & { kind: "group"; schema: JsonObject };

export type FormField = PlainField | GroupField;

/** The fields of an object in the order of its schema; those that only matter for another kind of it are left out. */
export function fieldsOf(schema: JsonObject, values: JsonObject, widgets: JsonObject = {}): FormField[] {
  const properties = objectAt(schema, "properties");
  const idle = idleNames(schema, values);
  return Object.keys(properties)
    .filter((name) => !idle.has(name) || isGiven(values[name]))
    .map((name) => fieldOf(name, properties[name], values[name], objectAt(objectAt(widgets, "properties"), name)));
}

/** The names of values that the schema does not know. */
export function extraNames(schema: JsonObject, values: JsonObject): string[] {
  const properties = objectAt(schema, "properties");
  return Object.keys(values).filter((name) => !(name in properties));
}

/** Paths of what a complete object has and this one lacks; an empty text counts as missing. */
export function missingNames(schema: unknown, values: JsonObject): string[] {
  if (!isObject(schema)) {
    return [];
  }
  const missing = listAt(schema, "required").filter((name) => typeof name === "string" && !isGiven(values[name]));
  const every = listAt(schema, "allOf").flatMap((one) => missingNames(one, values));
  const choices = listAt(schema, "anyOf").map((one) => missingNames(one, values));
  const any = choices.some((one) => one.length === 0) ? [] : (choices[0] ?? []);
  const then = "if" in schema && holds(schema.if, values) ? missingNames(schema.then, values) : [];
  return [...new Set([...(missing as string[]), ...every, ...any, ...then])];
}

/** Set a member, or remove it where the value is undefined. */
export function withMember(values: JsonObject, name: string, value: unknown): JsonObject {
  const { [name]: _, ...others } = values;
  if (value === undefined) {
    return others;
  }
  // In its old place, so that the order of members is not a change.
  return name in values ? { ...values, [name]: value } : { ...others, [name]: value };
}

/** A value that fits a schema, from its examples and defaults where it has some. */
export function exampleOf(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > 8) {
    return null;
  }
  const given = [
    schema.const,
    schema.default,
    ...listAt(schema, "examples"),
    schema.example,
    ...listAt(schema, "enum"),
  ];
  const first = given.find((one) => one !== undefined);
  if (first !== undefined) {
    return first;
  }
  const choice = listAt(schema, "anyOf")[0] ?? listAt(schema, "oneOf")[0];
  if (choice !== undefined) {
    return exampleOf(choice, depth + 1);
  }
  switch (typeOf(schema)) {
    case "object":
      return Object.fromEntries(
        Object.entries(objectAt(schema, "properties")).map(([name, one]) => [name, exampleOf(one, depth + 1)]),
      );
    case "array":
      return "items" in schema ? [exampleOf(schema.items, depth + 1)] : [];
    case "number":
    case "integer":
      return typeof schema.minimum === "number" ? schema.minimum : 1;
    case "boolean":
      return true;
    case "string":
      return exampleText(schema.format);
    default:
      return null;
  }
}

function exampleText(format: unknown): string {
  switch (format) {
    case "date-time":
      return "2026-01-31T09:30:00.000Z";
    case "date":
      return "2026-01-31";
    case "email":
      return "ada@example.com";
    case "uri":
      return "https://example.com";
    default:
      return "text";
  }
}

function fieldOf(name: string, schema: unknown, value: unknown, widget: JsonObject): FormField {
  const shown = isObject(schema) ? schema : {};
  const chosen = chooseAlternative(shown, value);
  const placeholder = widget.placeholder ?? listAt(shown, "examples")[0];
  const kind = kindOf(chosen);
  const described = {
    name,
    title: typeof shown.title === "string" ? shown.title : titleOf(name),
    ...(typeof shown.description === "string" && { hint: shown.description.replaceAll("`", "") }),
    ...(typeof widget.component === "string" && { widget: widget.component }),
    ...(placeholder !== undefined && { placeholder: String(placeholder) }),
    ...(kind === "choice" && { options: listAt(chosen, "enum").filter((one) => typeof one === "string") as string[] }),
    ...(kind === "number" && { isWhole: typeOf(chosen) === "integer" }),
  };
  return kind === "group" ? { ...described, kind, schema: chosen } : { ...described, kind };
}

function kindOf(schema: JsonObject): FormField["kind"] {
  if (listAt(schema, "enum").length > 0) {
    return "choice";
  }
  switch (typeOf(schema)) {
    case "string":
      return schema.contentMediaType === "text/html" ? "html" : "text";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "flag";
    case "array":
      return isObject(schema.items) && typeOf(schema.items) === "string" ? "texts" : "json";
    case "object":
      if (Object.keys(objectAt(schema, "properties")).length > 0) {
        return "group";
      }
      return typeOf(objectAt(schema, "additionalProperties")) === "string" ? "pairs" : "json";
    default:
      return "json";
  }
}

/** Of several shapes the one that the value has, otherwise the first. */
function chooseAlternative(schema: JsonObject, value: unknown): JsonObject {
  const choices = listAt(schema, "anyOf").filter((one) => isObject(one) && typeOf(one) !== undefined) as JsonObject[];
  return choices.find((one) => fitsType(typeOf(one), value)) ?? choices[0] ?? schema;
}

function fitsType(type: string | undefined, value: unknown): boolean {
  switch (type) {
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}

/** Names that the rules for other kinds require and that for the kind at hand does not. */
function idleNames(schema: JsonObject, values: JsonObject): Set<string> {
  const rules = listAt(schema, "allOf").filter((one) => isObject(one) && isObject(one.if) && isObject(one.then));
  const namesOf = (one: unknown) => {
    const then = objectAt(one as JsonObject, "then");
    return [...listAt(then, "required"), ...listAt(then, "anyOf").flatMap((any) => listAt(any, "required"))];
  };
  const named = rules.flatMap(namesOf);
  const wanted = rules.filter((one) => holds((one as JsonObject).if, values)).flatMap(namesOf);
  return new Set(named.filter((name) => !wanted.includes(name)) as string[]);
}

/** Whether an object is as an `if` of these schemas asks: members that are there, constant or of a type. */
function holds(rule: unknown, values: JsonObject): boolean {
  if (!isObject(rule)) {
    return true;
  }
  if ("not" in rule) {
    return !holds(rule.not, values);
  }
  const hasAll = listAt(rule, "required").every((name) => isGiven(values[String(name)]));
  const fits = Object.entries(objectAt(rule, "properties")).every(([name, one]) => {
    const value = values[name];
    const wanted = isObject(one) ? one : {};
    return value === undefined || !("const" in wanted) || wanted.const === value;
  });
  return hasAll && fits;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function typeOf(schema: JsonObject): string | undefined {
  const types = [schema.type].flat().filter((one) => typeof one === "string" && one !== "null");
  return types[0] as string | undefined;
}

function objectAt(schema: JsonObject, name: string): JsonObject {
  const found = schema[name];
  return isObject(found) ? found : {};
}

function listAt(schema: unknown, name: string): unknown[] {
  const found = isObject(schema) ? schema[name] : undefined;
  return Array.isArray(found) ? found : [];
}

function titleOf(name: string): string {
  const spaced = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
