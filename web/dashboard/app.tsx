import { ErrorBoundary } from "preact-iso/lazy";
import { Route, Router } from "preact-iso/router";
import { Notices } from "../ui/notices.tsx";
import { BASE } from "./addresses.ts";
import { SignInPage } from "./pages/sign-in/page.tsx";
import { PAGES } from "./pages.ts";
import { useSession } from "./session.ts";
import { focusPage } from "./shell/focus.ts";
import { lazyPage } from "./shell/lazy-page.tsx";
import { Location } from "./shell/location.tsx";
import { NotFound } from "./shell/not-found.tsx";
import { placePage } from "./shell/scrolling.ts";
import { SessionGate } from "./shell/session-gate.tsx";
import { Shell } from "./shell/shell.tsx";

const SetUpPage = lazyPage(() => import("./pages/set-up/page.tsx"));
const InvitationPage = lazyPage(() => import("./pages/invitation/page.tsx"));
const ForgottenPage = lazyPage(() => import("./pages/forgotten/page.tsx"));
const ResetPage = lazyPage(() => import("./pages/reset/page.tsx"));

/** The routes: those of getting in, and the pages of an environment inside the shell. */
export function App() {
  return (
    <Location scope={BASE}>
      <ErrorBoundary>
        <Router>
          <Route path={`${BASE}/sign-in`} component={SignInPage} />
          <Route path={`${BASE}/setup`} component={SetUpPage} />
          <Route path={`${BASE}/invitation`} component={InvitationPage} />
          <Route path={`${BASE}/forgotten`} component={ForgottenPage} />
          <Route path={`${BASE}/reset`} component={ResetPage} />
          <Route path={BASE} component={Inside} />
          <Route path={`${BASE}/*`} component={Inside} />
        </Router>
      </ErrorBoundary>
      <Notices />
    </Location>
  );
}

function Inside() {
  return (
    <SessionGate>
      <Shell>
        <Pages />
      </Shell>
    </SessionGate>
  );
}

function enterPage() {
  placePage();
  focusPage();
}

/** The page of the address; all begin anew in another environment, while the shell stays. */
function Pages() {
  const { environment } = useSession();
  return (
    <Router key={environment.identifier} onRouteChange={enterPage}>
      {PAGES.map((page) => (
        <Route key={page.path} path={`/e/:environment${page.path}`} component={page.component} />
      ))}
      <Route default component={NotFound} />
    </Router>
  );
}
