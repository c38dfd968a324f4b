/** What limits the list: everything but the time, as the address and the API spell it. */
import type { components } from "../../../api/schema.d.ts";

type Schemas = components["schemas"];

export type Filters = {
  status: Schemas["RunStatus"][];
  stepType: Schemas["StepType"][];
  providerId: string[];
  workflowId: string[];
  subscriberId: string[];
  transactionId: string[];
  topicKey: string;
};

export const NO_FILTERS: Filters = {
  status: [],
  stepType: [],
  providerId: [],
  workflowId: [],
  subscriberId: [],
  transactionId: [],
  topicKey: "",
};

/** Filters of any text, of which the address may have several. */
export const TEXT_FILTERS = ["workflowId", "subscriberId", "providerId", "transactionId"] as const;
export type TextFilter = (typeof TEXT_FILTERS)[number];

const NAMES = ["status", "stepType", ...TEXT_FILTERS, "topicKey"] as const;

/** Unknown values stay: the server names them and says which there are. */
export function readFilters(getAll: (name: string) => string[]): Filters {
  return {
    status: getAll("status") as Filters["status"],
    stepType: getAll("stepType") as Filters["stepType"],
    providerId: getAll("providerId"),
    workflowId: getAll("workflowId"),
    subscriberId: getAll("subscriberId"),
    transactionId: getAll("transactionId"),
    topicKey: getAll("topicKey")[0] ?? "",
  };
}

/** The parameters of a request; filters that are not set are left out. */
export function parametersOf(filters: Filters): Partial<Filters> {
  return Object.fromEntries(NAMES.map((name) => [name, filters[name]] as const).filter(([, value]) => value.length));
}

export function countFilters(filters: Filters): number {
  return Object.keys(parametersOf(filters)).length;
}

/** The same as the text of a query, in one order. */
export function queryTextOf(filters: Filters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parametersOf(filters))) {
    for (const one of [value].flat()) {
      query.append(name, one);
    }
  }
  return query.toString();
}

/** Put a value in the first place of a filter, or take it away. */
export function replaceFirst(values: readonly string[], value: string): string[] {
  const others = values.slice(1).filter((one) => one !== value);
  return value === "" ? others : [value, ...others];
}
