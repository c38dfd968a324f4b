/** The API with its types; a failure is thrown as an ApiProblem. */
import createClient, { type Middleware } from "openapi-fetch";
import { ApiProblem } from "./problem.ts";
import type { paths } from "./schema.d.ts";

/** Shows the server that the request comes from this page: other origins cannot set headers. */
const PAGE_HEADER = "X-Clarion";

let environment: string | null = null;

/** Choose the environment that requests are for. */
export function useEnvironmentOfRequests(identifier: string | null): void {
  environment = identifier;
}

/** The headers that every request needs. */
export function environmentHeaders(): Record<string, string> {
  return { [PAGE_HEADER]: "1", ...(environment !== null && { "Clarion-Environment": environment }) };
}

const addHeaders: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(environmentHeaders())) {
      // A request may name another environment, as promotion does.
      if (!request.headers.has(name)) {
        request.headers.set(name, value);
      }
    }
    return request;
  },
};

let waitForSession: (() => Promise<void>) | null = null;

/** What requests wait for that find the session over; without it they fail. */
export function onSessionEnd(wait: (() => Promise<void>) | null): void {
  waitForSession = wait;
}

/** Wait for a new session, if somebody can make one; says whether there is one. */
export async function renewSession(): Promise<boolean> {
  await waitForSession?.();
  return waitForSession !== null;
}

/** Requests that were refused for want of a session did nothing, so they are sent again when there is a new one. */
const resumeRequests: Middleware = (() => {
  const copies = new Map<string, Request>();
  return {
    onRequest({ request, id }) {
      if (request.method !== "GET") {
        copies.set(id, request.clone());
      }
    },
    async onResponse({ request, response, id, schemaPath }) {
      const copy = copies.get(id) ?? request;
      copies.delete(id);
      if (response.status !== 401 || schemaPath === "/v1/auth/sign-in" || !(await renewSession())) {
        return undefined;
      }
      return fetch(copy);
    },
    onError({ id }) {
      copies.delete(id);
    },
  };
})();

const throwProblems: Middleware = {
  async onResponse({ response }) {
    if (response.ok) {
      return;
    }
    let body: ConstructorParameters<typeof ApiProblem>[1];
    try {
      body = await response.json();
    } catch {
      body = undefined;
    }
    throw new ApiProblem(response.status, body, response.headers.get("x-request-id"));
  },
};

export const api = createClient<paths>({ baseUrl: "/" });
// Answers pass through the last one first.
api.use(addHeaders, throwProblems, resumeRequests);

/** The data of an answer; failures are thrown before. */
export function dataOf<Data>(answer: { data?: Data }): Data {
  return answer.data as Data;
}
