/** Who is signed in, and what they may do in the environment that is shown. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { components } from "../api/schema.d.ts";
import { addressOf } from "./addresses.ts";

export type Me = components["schemas"]["Me"];
export type Environment = Me["environments"][number];

type Session = { me: Me; environment: Environment };

export const SessionContext = createContext<Session | null>(null);

/** Who is signed in, and the environment of the address. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) {
    throw new Error("useSession is for pages inside the SessionGate");
  }
  return session;
}

/** What the member may do in this environment; the server decides, this only spares buttons that would fail. */
export function useCan(scope: components["schemas"]["Scope"]): boolean {
  return useSession().environment.scopes.includes(scope);
}

/** Makes the address of a page in this environment. */
export function useAddress(): (path: string) => string {
  const { environment } = useSession();
  return (path) => addressOf(environment.identifier, path);
}
