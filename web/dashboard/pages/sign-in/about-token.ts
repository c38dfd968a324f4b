import type { Action } from "../../../api/action.ts";

/** The token of a link has no field, so what is wrong with it is said without its name. */
export function aboutToken(action: Action<[]>): Action<[]> {
  return { ...action, error: action.fields.token ?? action.error };
}
