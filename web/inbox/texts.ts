// The texts of the element but those of more-texts.ts; `{n}` stands for a number and `{x}` for a text.

import type { MoreTexts } from "./more-texts.ts";

export const ENGLISH = {
  notifications: "Notifications",
  unreadCount: "{n} unread",
  inbox: "Inbox",
  unread: "Unread",
  archived: "Archived",
  snoozed: "Snoozed",
  show: "Show",
  close: "Close",
  back: "Back",
  tryAgain: "Try again",
  undo: "Undo",
  loading: "Loading",
  newCount: "{n} new",
  received: "New notification: {x}",
  important: "Important",
  empty: "You are all caught up",
  emptyUnread: "Nothing unread",
  emptyArchived: "Nothing archived",
  emptySnoozed: "Nothing snoozed",
  markAllRead: "Mark all as read",
  archiveRead: "Archive what is read",
  markRead: "Mark as read",
  markUnread: "Mark as unread",
  archive: "Archive",
  unarchive: "Move to inbox",
  snooze: "Snooze",
  unsnooze: "End the snooze",
  delete: "Delete",
  markedAllRead: "All marked as read",
  unarchivedOne: "Moved to the inbox",
  deletedOne: "Deleted",
  snoozedUntil: "Snoozed until {x}",
  preferences: "Preferences",
};

export type Texts = Record<keyof typeof ENGLISH, string> & Partial<MoreTexts>;

export function fill(text: string, value: string | number): string {
  return text.replace(/\{[nx]\}/, () => String(value));
}
