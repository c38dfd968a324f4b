/** JSON values: whether two are the same, what is at a path, and identifiers of names. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two JSON values are the same; members that are undefined count as absent. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) {
    return true;
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]));
  }
  if (isObject(one) && isObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].every((name) => isSame(one[name], other[name]));
  }
  return false;
}

/** The value at a path such as `primaryAction.redirect.url` or `cc.0`. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) {
    if (Array.isArray(found)) {
      found = found[Number(name)];
    } else if (isObject(found)) {
      found = found[name];
    } else {
      return undefined;
    }
  }
  return found;
}

/** The words of a text in lower case with hyphens between them, as the server makes identifiers. */
export function kebab(text: string): string {
  const plain = text.normalize("NFKD").replaceAll(/\P{ASCII}/gu, "");
  const spaced = plain.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2");
  return (spaced.toLowerCase().match(/[a-z0-9]+/g) ?? []).join("-");
}
