// The demo page: tells the elements whose inbox they show, and triggers the demo workflow.

export interface State {
  environment: string;
  applicationIdentifier: string;
  subscriberId: string;
  /** Whether sessions need a hash, which only a server with an API key can make. */
  needsHash: boolean;
}

const send = find<HTMLButtonElement>("send");
const status = find("status");

await show();

async function show(): Promise<void> {
  const state = await call<State>("GET", "/demo/state");
  if (!state) return;
  const { environment, applicationIdentifier, subscriberId, needsHash } = state;
  find("environment").textContent = environment;
  const attributes = `application-identifier="${applicationIdentifier}" subscriber-id="${subscriberId}"`;
  find("snippet").textContent =
    `<script type="module" src="${location.origin}/inbox.js"></script>\n<clarion-inbox ${attributes}></clarion-inbox>`;
  if (needsHash) {
    status.textContent = `Sessions of ${environment} need a subscriber-hash (HMAC is on), which this page cannot make.`;
    return;
  }
  for (const id of ["bell", "list"]) {
    find(id).setAttribute("application-identifier", applicationIdentifier);
    find(id).setAttribute("subscriber-id", subscriberId);
  }
  send.disabled = false;
  send.addEventListener("click", trigger);
}

async function trigger(): Promise<void> {
  send.setAttribute("aria-disabled", "true");
  if (await call("POST", "/demo/trigger")) status.textContent = "Sent.";
  send.removeAttribute("aria-disabled");
}

async function call<T>(method: string, path: string): Promise<T | undefined> {
  try {
    const response = await fetch(path, { method });
    const answer = await response.json();
    if (response.ok) return answer as T;
    status.textContent = answer.message;
  } catch (error) {
    status.textContent = `The server could not be reached: ${(error as Error).message}`;
  }
  return undefined;
}

function find<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}
