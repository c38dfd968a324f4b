// What the views of the element need of it.

import type { InboxClient } from "./client.ts";
import type { Notification, Redirect } from "./shapes.ts";
import type { Texts } from "./texts.ts";

export interface Tab {
  label: string;
  /** The tab shows notifications with any of these tags; without tags it shows all. */
  tags?: string[];
}

export interface Host {
  readonly client: InboxClient;
  readonly texts: Texts;
  readonly locale: string | undefined;
  readonly maxSnoozeHours: number;
  /** Shows a sentence for a while, also to screen readers, with a way to undo what it says. */
  say(text: string, undo?: () => void): void;
  fail(error: unknown): void;
  navigate(redirect: Redirect | null | undefined, notification: Notification, before: Promise<unknown>): void;
}
