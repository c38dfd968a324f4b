/** Errors of the API, in its own words. */

type ErrorBody = {
  message?: string | string[];
  errors?: Record<string, { messages?: string[] }>;
  ctx?: Record<string, unknown>;
};

export class ApiProblem extends Error {
  readonly status: number;
  readonly requestId: string | null;
  /** The first sentence about each field, by its path. */
  readonly fields: Record<string, string>;
  /** What the server sends with some errors, such as the present state of what was to be changed. */
  readonly context: Record<string, unknown>;

  constructor(status: number, body: ErrorBody | undefined, requestId: string | null) {
    super(sentenceOf(status, body));
    this.name = "ApiProblem";
    this.status = status;
    this.requestId = requestId;
    this.fields = fieldsOf(body);
    this.context = body?.ctx ?? {};
  }
}

function sentenceOf(status: number, body: ErrorBody | undefined): string {
  const message = body?.message;
  return (Array.isArray(message) ? message.join(" ") : message) || `The server answered with status ${status}.`;
}

function fieldsOf(body: ErrorBody | undefined): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [path, problem] of Object.entries(body?.errors ?? {})) {
    const first = problem.messages?.[0];
    if (first) {
      found[path] = first;
    }
  }
  return found;
}
