// One notification of the list.

import { h, ICONS, icon, iconButton } from "./dom.ts";
import { fullTime, isSafeImage, readMarkers, relativeTime, type Span, safeRedirect } from "./formats.ts";
import type { Host } from "./host.ts";
import type { ActionKind, Notification } from "./shapes.ts";
import { fill } from "./texts.ts";

/** What a person can do with a notification. */
export interface ItemActions {
  open(one: Notification): void;
  press(one: Notification, kind: ActionKind): void;
  read(one: Notification, isRead: boolean): void;
  archive(one: Notification, isArchived: boolean): void;
  snooze(one: Notification, button: Element): void;
  unsnooze(one: Notification): void;
  delete(one: Notification): void;
}

export function renderItem(one: Notification, host: Host, actions: ItemActions): HTMLLIElement {
  const { texts } = host;
  const isUnread = !one.isRead;
  return h(
    "li",
    { class: isUnread ? "item unread" : "item", part: isUnread ? "item item-unread" : "item", "data-id": one.id },
    renderMain(one, host, actions),
    renderButtons(one, actions),
    h("div", { class: "tools", part: "tools" }, ...renderTools(one, host, actions)),
    isUnread && h("span", { class: "mark", part: "unread-mark" }, h("span", { class: "hidden" }, texts.unread)),
  );
}

/** Everything that moves with the left and right arrows within an item. */
export function controlsOf(item: Element): HTMLElement[] {
  return [...item.querySelectorAll<HTMLElement>("a, button")];
}

export function renderTime(time: HTMLTimeElement, locale: string | undefined): void {
  const at = new Date(time.dateTime);
  time.textContent = relativeTime(at, new Date(), locale);
  time.title = fullTime(at, locale);
}

function renderMain(one: Notification, host: Host, actions: ItemActions): HTMLElement {
  const { texts, locale } = host;
  const link = safeRedirect(one.redirect);
  const time = h("time", { part: "time", datetime: one.createdAt });
  renderTime(time, locale);
  const until = one.isSnoozed && one.snoozedUntil;
  return h(
    link ? "a" : "button",
    {
      class: "main",
      ...(link ? { href: link.url, target: link.target, rel: "noopener noreferrer" } : { type: "button" }),
      click: (event: MouseEvent) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        actions.open(one);
      },
    },
    isSafeImage(one.avatar) && renderAvatar(one.avatar),
    h(
      "span",
      { class: "content" },
      one.severity === "high" && h("span", { class: "important", part: "important" }, texts.important),
      one.subject && h("strong", { class: "subject", part: "subject" }, ...renderSpans(readMarkers(one.subject))),
      h("span", { class: "body", part: "body" }, ...renderSpans(readMarkers(one.body))),
      h("span", { class: "when" }, until ? fill(texts.snoozedUntil, fullTime(new Date(until), locale)) : time),
    ),
  );
}

function renderAvatar(url: string): HTMLImageElement {
  return h("img", {
    class: "avatar",
    part: "avatar",
    alt: "",
    src: url,
    loading: "lazy",
    referrerpolicy: "no-referrer",
    error: (event: Event) => (event.target as Element).remove(),
  });
}

function renderSpans(spans: Span[]): (Node | string)[] {
  return spans.map((one) => (one.tag ? h(one.tag, {}, ...renderSpans(one.spans ?? [])) : one.text));
}

function renderButtons(one: Notification, actions: ItemActions): HTMLElement | null {
  const button = (kind: ActionKind) => {
    const action = kind === "primary" ? one.primaryAction : one.secondaryAction;
    return (
      action &&
      h(
        "button",
        { type: "button", class: `button ${kind}`, part: `action ${kind}`, click: () => actions.press(one, kind) },
        action.isCompleted && icon(ICONS.check),
        action.label,
      )
    );
  };
  const buttons = [button("primary"), button("secondary")];
  return buttons.some((made) => made) ? h("div", { class: "buttons", part: "actions" }, ...buttons) : null;
}

function renderTools(one: Notification, host: Host, actions: ItemActions): HTMLElement[] {
  const { texts } = host;
  const tools = [
    one.isRead
      ? iconButton(texts.markUnread, ICONS.dot, () => actions.read(one, false))
      : iconButton(texts.markRead, ICONS.check, () => actions.read(one, true)),
  ];
  if (one.isSnoozed) {
    tools.push(iconButton(texts.unsnooze, ICONS.inbox, () => actions.unsnooze(one)));
  } else {
    if (host.maxSnoozeHours && !one.isArchived) {
      tools.push(iconButton(texts.snooze, ICONS.clock, (event) => actions.snooze(one, event.currentTarget as Element)));
    }
    tools.push(
      one.isArchived
        ? iconButton(texts.unarchive, ICONS.inbox, () => actions.archive(one, false))
        : iconButton(texts.archive, ICONS.archive, () => actions.archive(one, true)),
    );
  }
  tools.push(iconButton(texts.delete, ICONS.trash, () => actions.delete(one)));
  return tools;
}
