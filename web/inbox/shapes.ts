// What the inbox API sends and takes.

export type Severity = "high" | "medium" | "low" | "none";
export type Channel = "in_app" | "email" | "sms" | "chat" | "push" | "tool";
export type ActionKind = "primary" | "secondary";

export interface Redirect {
  url: string;
  target?: string | null;
}

export interface Action {
  label: string;
  isCompleted: boolean;
  redirect?: Redirect | null;
}

export interface Workflow {
  id: string;
  identifier: string;
  name: string;
  critical: boolean;
  tags?: string[];
  severity?: Severity;
}

export interface Notification {
  id: string;
  subject?: string | null;
  body: string;
  avatar?: string | null;
  isRead: boolean;
  isSeen: boolean;
  isArchived: boolean;
  isSnoozed: boolean;
  snoozedUntil?: string | null;
  deliveredAt?: string[] | null;
  createdAt: string;
  primaryAction?: Action | null;
  secondaryAction?: Action | null;
  tags?: string[] | null;
  data?: Record<string, unknown> | null;
  redirect?: Redirect | null;
  severity?: Severity;
  workflow?: Workflow | null;
}

export interface Counts {
  total: number;
  severity: Record<Severity, number>;
}

export interface Session {
  token: string;
  unreadCount: Counts;
  maxSnoozeDurationHours: number;
  isDevelopmentMode: boolean;
  /** The language of the person, such as `de-DE`. */
  locale?: string;
}

/** Which notifications are meant; what is left out does not matter. */
export interface Filter {
  tags?: string[];
  read?: boolean;
  archived?: boolean;
  snoozed?: boolean;
  seen?: boolean;
  severity?: Severity | Severity[];
  data?: Record<string, unknown>;
}

export interface PageOptions extends Filter {
  limit?: number;
  /** The id of the last notification of the page before. */
  after?: string;
}

export interface Page {
  data: Notification[];
  hasMore: boolean;
}

export interface Hours {
  /** Such as `09:00 AM`. */
  start: string;
  end: string;
}

export type Day = "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";

export interface Schedule {
  isEnabled: boolean;
  weeklySchedule?: Partial<Record<Day, { isEnabled: boolean; hours?: Hours[] }>>;
}

export type Channels = Partial<Record<Channel, boolean>>;

export interface Preference {
  level: "global" | "template";
  enabled: boolean;
  channels: Channels;
  workflow?: Workflow;
  schedule?: Schedule;
}

/** A notification as real time delivers it: the stored message. */
export interface PushedMessage {
  _id: string;
  content: string;
  subject?: string | null;
  avatar?: string | null;
  read: boolean;
  seen: boolean;
  archived: boolean;
  snoozedUntil?: string | null;
  deliveredAt?: string[] | null;
  createdAt: string;
  tags?: string[] | null;
  data?: Record<string, unknown> | null;
  severity?: Severity;
  workflow?: Workflow | null;
  cta?: {
    action?: {
      buttons?: { type: ActionKind; content: string; url?: string | null; target?: string | null }[];
      status?: string | null;
      result?: { type?: ActionKind | null } | null;
    } | null;
    data?: { url?: string | null; target?: string | null } | null;
  } | null;
}

export function notificationOf(message: PushedMessage): Notification {
  const { _id: id, content: body, read: isRead, seen: isSeen, archived: isArchived, cta, ...same } = message;
  const action = cta?.action;
  const actionOf = (kind: ActionKind): Action | null => {
    const button = action?.buttons?.find((one) => one.type === kind);
    const isCompleted = action?.status === "done" && action.result?.type === kind;
    return button ? { label: button.content, isCompleted, redirect: redirectOf(button) } : null;
  };
  return {
    ...same,
    id,
    body,
    isRead,
    isSeen,
    isArchived,
    isSnoozed: !!same.snoozedUntil,
    primaryAction: actionOf("primary"),
    secondaryAction: actionOf("secondary"),
    redirect: redirectOf(cta?.data),
  };
}

function redirectOf(link: { url?: string | null; target?: string | null } | null | undefined): Redirect | null {
  return link?.url ? (link as Redirect) : null;
}
