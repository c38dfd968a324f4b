/** Which environment is shown: the one of the address, or the one that was shown last. */

const STORED = "clarion-environment";
const ADDRESS = /^\/dashboard\/e\/([^/]+)(\/.*)?$/;

export type Place<One> = {
  environment: One;
  /** Behind the environment; begins with a slash. */
  path: string;
  /** The address names an environment that cannot be entered. */
  isUnknown: boolean;
  /** The address names no environment. */
  isIncomplete: boolean;
};

/** The environment and the page of a path; nothing if there is no environment at all. */
export function findPlace<One extends { identifier: string }>(
  environments: readonly One[],
  path: string,
  last: string | null,
): Place<One> | undefined {
  const named = ADDRESS.exec(path);
  const wanted = named ? decodeURIComponent(named[1] ?? "") : last;
  const found = environments.find((one) => one.identifier === wanted);
  const environment = found ?? environments[0];
  return (
    environment && {
      environment,
      path: (named ? named[2] : path.slice("/dashboard".length)) || "/",
      isUnknown: named !== null && !found,
      isIncomplete: named === null,
    }
  );
}

export function readLastEnvironment(): string | null {
  return localStorage.getItem(STORED);
}

export function rememberEnvironment(identifier: string): void {
  localStorage.setItem(STORED, identifier);
}
