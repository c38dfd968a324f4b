/** Every page of an environment: where it is, what it is called, and who may see it. */
import type { ComponentType } from "preact";
import { exec } from "preact-iso/router";
import type { components } from "../api/schema.d.ts";
import { lazyPage as lazy } from "./shell/lazy-page.tsx";
import { texts } from "./texts/shell.ts";

type Scope = components["schemas"]["Scope"];

export type PageInfo = {
  /** Behind `/dashboard/e/<environment>`. */
  path: string;
  title: string;
  /** The part of the navigation that lists it; pages of one thing are in none. */
  section?: keyof typeof texts.sections;
  /** What a member needs to see it. */
  scope?: Scope;
  component: ComponentType & { preload: () => Promise<unknown> };
};

export const PAGES: readonly PageInfo[] = [
  { path: "/", title: texts.pages.start, section: "overview", component: lazy(() => import("./pages/start/page.tsx")) },
  {
    path: "/activity",
    title: texts.pages.activity,
    section: "overview",
    scope: "events:read",
    component: lazy(() => import("./pages/activity/page.tsx")),
  },
  {
    path: "/activity/:runId",
    title: texts.pages.run,
    scope: "events:read",
    component: lazy(() => import("./pages/run/page.tsx")),
  },
  {
    path: "/workflows",
    title: texts.pages.workflows,
    section: "build",
    scope: "workflows:read",
    component: lazy(() => import("./pages/workflows/page.tsx")),
  },
  {
    path: "/workflows/:workflowId",
    title: texts.pages.workflow,
    scope: "workflows:read",
    component: lazy(() => import("./pages/workflow/page.tsx")),
  },
  {
    path: "/workflows/:workflowId/versions",
    title: texts.pages.versions,
    scope: "workflows:read",
    component: lazy(() => import("./pages/versions/page.tsx")),
  },
  {
    path: "/layouts",
    title: texts.pages.layouts,
    section: "build",
    scope: "workflows:read",
    component: lazy(() => import("./pages/layouts/page.tsx")),
  },
  {
    path: "/layouts/:layoutId",
    title: texts.pages.layout,
    scope: "workflows:read",
    component: lazy(() => import("./pages/layout/page.tsx")),
  },
  {
    path: "/translations",
    title: texts.pages.translations,
    section: "build",
    scope: "workflows:read",
    component: lazy(() => import("./pages/translations/page.tsx")),
  },
  {
    path: "/translations/:resourceType/:resourceId",
    title: texts.pages.translation,
    scope: "workflows:read",
    component: lazy(() => import("./pages/translation/page.tsx")),
  },
  {
    path: "/schedules",
    title: texts.pages.schedules,
    section: "build",
    scope: "schedules:read",
    component: lazy(() => import("./pages/schedules/page.tsx")),
  },
  {
    path: "/schedules/:scheduleKey",
    title: texts.pages.schedule,
    scope: "schedules:read",
    component: lazy(() => import("./pages/schedule/page.tsx")),
  },
  {
    path: "/outbox",
    title: texts.pages.outbox,
    section: "build",
    scope: "messages:read",
    component: lazy(() => import("./pages/outbox/page.tsx")),
  },
  {
    path: "/subscribers",
    title: texts.pages.subscribers,
    section: "people",
    scope: "subscribers:read",
    component: lazy(() => import("./pages/subscribers/page.tsx")),
  },
  {
    path: "/subscribers/import",
    title: texts.pages.subscriberImport,
    scope: "subscribers:write",
    component: lazy(() => import("./pages/subscriber-import/page.tsx")),
  },
  {
    path: "/subscribers/:subscriberId/:part?",
    title: texts.pages.subscriber,
    scope: "subscribers:read",
    component: lazy(() => import("./pages/subscriber/page.tsx")),
  },
  {
    path: "/topics",
    title: texts.pages.topics,
    section: "people",
    scope: "topics:read",
    component: lazy(() => import("./pages/topics/page.tsx")),
  },
  {
    path: "/topics/:topicKey",
    title: texts.pages.topic,
    scope: "topics:read",
    component: lazy(() => import("./pages/topic/page.tsx")),
  },
  {
    path: "/segments",
    title: texts.pages.segments,
    section: "people",
    scope: "segments:read",
    component: lazy(() => import("./pages/segments/page.tsx")),
  },
  {
    path: "/segments/:segmentKey",
    title: texts.pages.segment,
    scope: "segments:read",
    component: lazy(() => import("./pages/segment/page.tsx")),
  },
  {
    path: "/contexts",
    title: texts.pages.contexts,
    section: "people",
    scope: "contexts:read",
    component: lazy(() => import("./pages/contexts/page.tsx")),
  },
  {
    path: "/contexts/:contextType/:contextId",
    title: texts.pages.context,
    scope: "contexts:read",
    component: lazy(() => import("./pages/context/page.tsx")),
  },
  {
    path: "/suppressions",
    title: texts.pages.suppressions,
    section: "people",
    scope: "messages:read",
    component: lazy(() => import("./pages/suppressions/page.tsx")),
  },
  {
    path: "/integrations",
    title: texts.pages.integrations,
    section: "delivery",
    scope: "integrations:read",
    component: lazy(() => import("./pages/integrations/page.tsx")),
  },
  {
    path: "/integrations/new",
    title: texts.pages.integrationNew,
    scope: "integrations:write",
    component: lazy(() => import("./pages/integration-new/page.tsx")),
  },
  {
    path: "/integrations/:integrationId",
    title: texts.pages.integration,
    scope: "integrations:read",
    component: lazy(() => import("./pages/integration/page.tsx")),
  },
  {
    path: "/dead-letters",
    title: texts.pages.deadLetters,
    section: "delivery",
    scope: "events:read",
    component: lazy(() => import("./pages/dead-letters/page.tsx")),
  },
  {
    path: "/webhooks",
    title: texts.pages.webhooks,
    section: "delivery",
    scope: "webhooks:read",
    component: lazy(() => import("./pages/webhooks/page.tsx")),
  },
  {
    path: "/webhooks/:endpointId",
    title: texts.pages.webhook,
    scope: "webhooks:read",
    component: lazy(() => import("./pages/webhook/page.tsx")),
  },
  {
    path: "/usage",
    title: texts.pages.usage,
    section: "delivery",
    scope: "messages:read",
    component: lazy(() => import("./pages/usage/page.tsx")),
  },
  {
    path: "/api-keys",
    title: texts.pages.apiKeys,
    section: "settings",
    scope: "environments:read",
    component: lazy(() => import("./pages/api-keys/page.tsx")),
  },
  {
    path: "/environments",
    title: texts.pages.environments,
    section: "settings",
    scope: "environments:read",
    component: lazy(() => import("./pages/environments/page.tsx")),
  },
  {
    path: "/variables",
    title: texts.pages.variables,
    section: "settings",
    scope: "environments:read",
    component: lazy(() => import("./pages/variables/page.tsx")),
  },
  {
    path: "/promotion",
    title: texts.pages.promotion,
    section: "settings",
    scope: "environments:write",
    component: lazy(() => import("./pages/promotion/page.tsx")),
  },
  {
    path: "/team",
    title: texts.pages.team,
    section: "settings",
    scope: "members:read",
    component: lazy(() => import("./pages/team/page.tsx")),
  },
  {
    path: "/audit-log",
    title: texts.pages.auditLog,
    section: "settings",
    scope: "audit:read",
    component: lazy(() => import("./pages/audit-log/page.tsx")),
  },
  { path: "/account", title: texts.pages.account, component: lazy(() => import("./pages/account/page.tsx")) },
];

/** The page of a path behind the environment. */
export function findPage(path: string): PageInfo | undefined {
  return PAGES.find((page) => exec(path, page.path, { path, query: {}, params: {} }));
}
