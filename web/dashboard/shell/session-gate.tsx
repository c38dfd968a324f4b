import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { api, dataOf, useEnvironmentOfRequests } from "../../api/client.ts";
import { useLoaded } from "../../api/loaded.ts";
import { ApiProblem } from "../../api/problem.ts";
import { Problem } from "../../ui/problem.tsx";
import { Empty } from "../../ui/states.tsx";
import { addressOf, signInAddress } from "../addresses.ts";
import { findPlace, readLastEnvironment, rememberEnvironment } from "../environment.ts";
import { SessionContext } from "../session.ts";
import { texts } from "../texts/shell.ts";
import { SessionEnd } from "./session-end.tsx";
import { ShellOutline } from "./shell-outline.tsx";
import { UnknownEnvironment } from "./unknown-environment.tsx";

/** Loads who is signed in before it shows anything; without a session it leads to signing in, and back. */
export function SessionGate({ children }: { children: ComponentChildren }) {
  const { path, url, route } = useLocation();
  const me = useLoaded("me", async (signal) => dataOf(await api.GET("/v1/auth/me", { signal })));
  const isSignedOut = me.error instanceof ApiProblem && me.error.status === 401;
  const place = me.data && findPlace(me.data.environments, path, readLastEnvironment());
  const elsewhere = place?.isIncomplete ? addressOf(place.environment.identifier, place.path) : null;

  useEffect(() => {
    if (isSignedOut) {
      route(signInAddress(), true);
    } else if (elsewhere !== null) {
      route(elsewhere + location.search, true);
    }
  }, [isSignedOut, elsewhere, url, route]);

  if (me.error && !isSignedOut) {
    return (
      <main class="lonely">
        <Problem error={me.error} onRetry={me.reload} />
      </main>
    );
  }
  if (!me.data || elsewhere !== null) {
    return <ShellOutline />;
  }
  if (!place) {
    return (
      <main class="lonely">
        <Empty title={texts.noEnvironment}>{texts.noEnvironmentHint}</Empty>
      </main>
    );
  }
  if (place.isUnknown) {
    return <UnknownEnvironment environments={me.data.environments} />;
  }
  const { environment } = place;
  useEnvironmentOfRequests(environment.identifier);
  rememberEnvironment(environment.identifier);
  return (
    <SessionContext.Provider value={{ me: me.data, environment }}>
      {children}
      <SessionEnd member={me.data.member} />
    </SessionContext.Provider>
  );
}
