/** Variables in scope, as their JSON Schema describes them. */

export type Schema = { [name: string]: unknown };

/** A part of a schema; null where anything may be. */
export type Shape = Schema | null;

export type Member = { name: string; type: string; description: string; shape: Shape };

/** Names whose values the schema of the root describes, and others that the text itself makes. */
export type Scope = { root: Schema; locals: ReadonlyMap<string, Shape> };

const LIST_MEMBERS: Schema = { size: { type: "integer" } };

/** The members of a value with their types; empty if they are not known. */
export function listMembers(shape: Shape, root: Schema): Member[] {
  const resolved = resolveReference(shape, root);
  if (resolved === null) {
    return [];
  }
  const isList = typeOf(resolved) === "array";
  const items = resolved.items as Schema | undefined;
  const members = isList
    ? { ...LIST_MEMBERS, first: items ?? {}, last: items ?? {} }
    : ((resolved.properties ?? {}) as Record<string, Schema>);
  return Object.entries(members).map(([name, member]) => describe(name, member as Schema, root));
}

/** The members of the variables themselves, those of the text first. */
export function listNames(scope: Scope): Member[] {
  const made = [...scope.locals].map(([name, shape]) => describe(name, shape ?? {}, scope.root));
  return [...made, ...listMembers(scope.root, scope.root)];
}

/** What a path leads to: a shape, null if it may be anything, undefined if there is no such variable. */
export function findShape(path: readonly (string | null)[], scope: Scope): Shape | undefined {
  const [first, ...rest] = path;
  let shape: Shape | undefined =
    typeof first === "string" && scope.locals.has(first)
      ? scope.locals.get(first)
      : memberOf(scope.root, first ?? null, scope.root);
  for (const name of rest) {
    if (shape === undefined || shape === null) {
      return shape;
    }
    shape = memberOf(shape, name, scope.root);
  }
  return shape === undefined ? undefined : resolveReference(shape, scope.root);
}

/** The shape of the items of a list. */
export function itemOf(shape: Shape | undefined, root: Schema): Shape {
  const resolved = resolveReference(shape ?? null, root);
  return (resolved?.items as Schema | undefined) ?? null;
}

function memberOf(shape: Shape, name: string | null, root: Schema): Shape | undefined {
  const resolved = resolveReference(shape, root);
  if (resolved === null || name === null) {
    return resolved === null ? null : itemOf(resolved, root);
  }
  if (typeOf(resolved) === "array") {
    const items = (resolved.items as Schema | undefined) ?? null;
    return /^-?\d+$/.test(name) || name === "first" || name === "last" ? items : name === "size" ? {} : undefined;
  }
  const members = (resolved.properties ?? {}) as Record<string, Schema>;
  if (Object.hasOwn(members, name)) {
    return members[name] as Schema;
  }
  return name === "size" ? {} : otherMemberOf(resolved, members);
}

/** A member that is not named: unknown where others are named and no others are announced. */
function otherMemberOf(schema: Schema, members: Record<string, Schema>): Shape | undefined {
  const others = schema.additionalProperties;
  if (typeof others === "object" && others !== null) {
    return others as Schema;
  }
  if (others === true || ["anyOf", "oneOf", "allOf", "patternProperties"].some((name) => name in schema)) {
    return null;
  }
  const isOpen = others !== false && Object.keys(members).length === 0;
  const type = typeOf(schema);
  return isOpen && (type === "object" || type === "") ? null : undefined;
}

function resolveReference(shape: Shape, root: Schema): Shape {
  let found: unknown = shape;
  for (let step = 0; step < 8; step += 1) {
    const reference = (found as Schema | null)?.$ref;
    if (typeof reference !== "string") {
      return (found as Shape) ?? null;
    }
    if (!reference.startsWith("#/")) {
      return null;
    }
    found = reference
      .slice(2)
      .split("/")
      .reduce<unknown>((value, name) => (value as Schema | undefined)?.[name.replaceAll("~1", "/")], root);
  }
  return null;
}

function describe(name: string, schema: Schema, root: Schema): Member {
  const shape = resolveReference(schema, root) ?? {};
  const description = shape.description ?? schema.description ?? "";
  return { name, type: typeOf(shape), description: String(description), shape: schema };
}

/** The type of a value in one word; null is left out. */
export function typeOf(schema: Schema): string {
  const type = schema.type;
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string" && one !== "null");
  return types.length === 1 ? String(types[0]) : "";
}
