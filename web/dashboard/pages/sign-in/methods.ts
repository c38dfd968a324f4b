/** How people sign in here, and the token of the link that they opened. */
import { useEffect, useState } from "preact/hooks";
import { api, dataOf } from "../../../api/client.ts";
import { type Loaded, useLoaded } from "../../../api/loaded.ts";
import type { components } from "../../../api/schema.d.ts";

export type Methods = components["schemas"]["SignInMethods"];

export function useMethods(): Loaded<Methods> {
  return useLoaded("methods", async (signal) => dataOf(await api.GET("/v1/auth/methods", { signal })));
}

/** What is behind the # of the address; a link that is pasted into the same tab changes nothing else. */
export function useFragment(): string {
  const [fragment, setFragment] = useState(location.hash.slice(1));
  useEffect(() => {
    const read = () => setFragment(location.hash.slice(1));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return fragment;
}
