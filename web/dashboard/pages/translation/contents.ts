/** Texts of all languages of a workflow or layout: rows of one key, whichever way the stored objects are nested. */
import { isObject, isSame, type JsonObject } from "../../values.ts";

/** The content of each locale, as it is stored. */
export type Contents = Readonly<Record<string, JsonObject>>;

export type TextRow = { key: string; texts: Readonly<Record<string, string>> };

type Path = readonly string[];

/** The texts of a content by their keys, with the names that lead to each. */
export function leavesOf(content: JsonObject, before: Path = []): Map<string, { path: Path; text: string }> {
  const found = new Map<string, { path: Path; text: string }>();
  for (const [name, value] of Object.entries(content)) {
    const path = [...before, name];
    if (isObject(value)) {
      for (const [key, leaf] of leavesOf(value, path)) {
        found.set(key, leaf);
      }
    } else {
      found.set(path.join("."), { path, text: typeof value === "string" ? value : JSON.stringify(value) });
    }
  }
  return found;
}

/** All keys in the order of the first locale that has them. */
export function rowsOf(contents: Contents, locales: readonly string[]): TextRow[] {
  const rows = new Map<string, Record<string, string>>();
  for (const locale of locales) {
    for (const [key, { text }] of leavesOf(contents[locale] ?? {})) {
      const texts = rows.get(key) ?? {};
      texts[locale] = text;
      rows.set(key, texts);
    }
  }
  return [...rows].map(([key, texts]) => ({ key, texts }));
}

/** Set the text of a key in one language; without a text the key is removed from it. */
export function withText(contents: Contents, locale: string, key: string, text: string | undefined): Contents {
  const path = pathOf(contents, locale, key);
  return { ...contents, [locale]: setAt(contents[locale] ?? {}, path, text) };
}

export function withoutKey(contents: Contents, key: string): Contents {
  return Object.keys(contents).reduce(
    (now, locale) => (leavesOf(now[locale] ?? {}).has(key) ? withText(now, locale, key, undefined) : now),
    contents,
  );
}

/** The languages in which a row has no text. */
export function missingIn({ texts }: TextRow, locales: readonly string[]): string[] {
  return locales.filter((locale) => (texts[locale] ?? "").trim() === "");
}

/** Where a key is in the content of a language: as it is there, else as in another one. */
function pathOf(contents: Contents, locale: string, key: string): Path {
  const others = Object.values(contents);
  const all = [contents[locale] ?? {}, ...others];
  return all.map((content) => leavesOf(content).get(key)?.path).find((path) => path !== undefined) ?? [key];
}

function setAt(content: JsonObject, path: Path, text: string | undefined): JsonObject {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    return text === undefined ? without(content, name) : { ...content, [name]: text };
  }
  const inner = content[name];
  const changed = setAt(isObject(inner) ? inner : {}, rest, text);
  return Object.keys(changed).length === 0 ? without(content, name) : { ...content, [name]: changed };
}

function without(content: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(content).filter(([other]) => other !== name));
}

/** My changes of texts, put on what others saved since. */
export function rebaseContents(base: Contents, mine: Contents, theirs: Contents): Contents {
  let merged: Contents = { ...theirs };
  for (const locale of Object.keys({ ...base, ...mine })) {
    const before = leavesOf(base[locale] ?? {});
    const now = leavesOf(mine[locale] ?? {});
    for (const key of new Set([...before.keys(), ...now.keys()])) {
      if (before.get(key)?.text !== now.get(key)?.text) {
        const text = now.get(key);
        merged = text
          ? { ...merged, [locale]: setAt(merged[locale] ?? {}, text.path, text.text) }
          : withText(merged, locale, key, undefined);
      }
    }
  }
  return merged;
}

/** The languages whose texts differ. */
export function changedLocales(base: Contents, now: Contents): string[] {
  return Object.keys({ ...base, ...now }).filter((locale) => !isSame(base[locale] ?? {}, now[locale] ?? {}));
}
