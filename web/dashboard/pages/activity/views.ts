/** Views: sets of filters with names, kept in this browser for each environment. */
import { DEFAULT_PRESET } from "./range.ts";

export type View = { name: string; query: string };

export type Views = {
  saved: readonly View[];
  /** The name of the view that Activity opens with. */
  default: string | null;
};

export const NO_VIEWS: Views = { saved: [], default: null };

type Store = Pick<Storage, "getItem" | "setItem">;

export function readViews(store: Store, environment: string): Views {
  try {
    const found: unknown = JSON.parse(store.getItem(keyOf(environment)) ?? "null");
    return isViews(found) ? found : NO_VIEWS;
  } catch {
    return NO_VIEWS;
  }
}

export function writeViews(store: Store, environment: string, views: Views): void {
  store.setItem(keyOf(environment), JSON.stringify(views));
}

/** Why a view cannot have a name; null if it can. */
export function problemOfName(views: Views, name: string, current?: string): "empty" | "taken" | null {
  const wanted = name.trim();
  if (wanted === "") {
    return "empty";
  }
  return wanted !== current && views.saved.some((one) => one.name === wanted) ? "taken" : null;
}

export function addView(views: Views, view: View): Views {
  return { ...views, saved: [...views.saved, { name: view.name.trim(), query: normalizeQuery(view.query) }] };
}

export function renameView(views: Views, name: string, wanted: string): Views {
  const saved = views.saved.map((one) => (one.name === name ? { ...one, name: wanted.trim() } : one));
  return { saved, default: views.default === name ? wanted.trim() : views.default };
}

export function removeView(views: Views, name: string): Views {
  return {
    saved: views.saved.filter((one) => one.name !== name),
    default: views.default === name ? null : views.default,
  };
}

/** Make a view the one that Activity opens with, or none if it is already. */
export function toggleDefault(views: Views, name: string): Views {
  return { ...views, default: views.default === name ? null : name };
}

export function findDefault(views: Views): View | undefined {
  return views.saved.find((one) => one.name === views.default);
}

/** A query with its parameters in one order and the range written out, so that two of them can be compared. */
export function normalizeQuery(query: string): string {
  const values = new URLSearchParams(query);
  if (!values.has("range")) {
    values.append("range", DEFAULT_PRESET);
  }
  values.sort();
  return values.toString();
}

function keyOf(environment: string): string {
  return `clarion-activity-views:${environment}`;
}

function isViews(found: unknown): found is Views {
  return (
    typeof found === "object" &&
    found !== null &&
    "saved" in found &&
    "default" in found &&
    (found.default === null || typeof found.default === "string") &&
    Array.isArray(found.saved) &&
    found.saved.every((one) => typeof one?.name === "string" && typeof one?.query === "string")
  );
}
