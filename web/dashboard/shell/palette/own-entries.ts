/** Pages and actions of the palette that this member may use. */
import { useLocation } from "preact-iso/router";
import type { components } from "../../../api/schema.d.ts";
import { PAGES } from "../../pages.ts";
import { useSession } from "../../session.ts";
import { texts } from "../../texts/palette.ts";
import { texts as shellTexts } from "../../texts/shell.ts";
import { useSwitchEnvironment } from "../environment-switch.tsx";
import { readRecent } from "../recent.ts";
import { signOut } from "../sign-out.ts";
import { chooseTheme, THEMES } from "../theme.ts";
import type { Entry } from "./entries.ts";

type Scope = components["schemas"]["Scope"];

/** Pages that begin something; `do` asks the page to open its form. */
const BEGINNINGS: readonly (readonly [title: string, path: string, scope: Scope, words: string])[] = [
  [texts.createWorkflow, "/workflows?do=create", "workflows:write", "new add"],
  [texts.createLayout, "/layouts?do=create", "workflows:write", "new add email"],
  [texts.createSubscriber, "/subscribers?do=create", "subscribers:write", "new add person"],
  [texts.createSegment, "/segments?do=create", "segments:write", "new add people condition"],
  [texts.importSubscribers, "/subscribers/import", "subscribers:write", "csv upload people"],
  [texts.addIntegration, "/integrations/new", "integrations:write", "new create provider"],
  [texts.createKey, "/api-keys?do=create", "environments:write", "new add secret token"],
  [texts.invite, "/team?do=invite", "members:write", "add member colleague"],
];

export function useOwnEntries(onKeys: () => void): Entry[] {
  const { me, environment } = useSession();
  const switchTo = useSwitchEnvironment();
  const can = (scope?: Scope) => !scope || environment.scopes.includes(scope);
  const action = (id: string, title: string, run: () => void, words = ""): Entry => ({
    id: `action-${id}`,
    group: "actions",
    kind: texts.action,
    title,
    words,
    run,
  });
  return [
    ...PAGES.filter((page) => page.section && can(page.scope)).map(pageEntry),
    ...BEGINNINGS.filter(([, , scope]) => can(scope)).map(([title, path, , words]) => ({
      ...action(path, title, () => {}, words),
      path,
    })),
    ...me.environments
      .filter((one) => one.identifier !== environment.identifier)
      .map((one) =>
        action(one.identifier, texts.switchTo(one.name), () => void switchTo(one.identifier), "environment"),
      ),
    ...THEMES.map((theme) =>
      action(theme, texts.theme(shellTexts.themes[theme]), () => chooseTheme(theme), "theme color mode"),
    ),
    { ...action("account", texts.account, () => {}, "password sessions profile"), path: "/account" },
    action("keys", texts.keysHelp, onKeys, "keyboard shortcuts help"),
    action("reference", texts.reference, () => window.open("/docs", "_blank", "noopener"), "docs openapi"),
    action("sign-out", texts.signOut, () => void signOut(), "log out leave"),
  ];
}

function pageEntry(page: (typeof PAGES)[number]): Entry {
  return { id: `page-${page.path}`, group: "pages", kind: texts.page, title: page.title, path: page.path };
}

/** What was opened last here, but not what is shown already. */
export function useRecentEntries(): Entry[] {
  const { environment } = useSession();
  const { url } = useLocation();
  return readRecent(environment.identifier)
    .filter((one) => !url.endsWith(one.address))
    .map((one) => ({
      id: `recent-${one.address}`,
      group: "recent",
      kind: one.detail,
      title: one.title,
      path: one.address,
    }));
}
