// The choice of the moment until which a notification is snoozed.

import { h } from "./dom.ts";
import type { Host } from "./host.ts";
import { addStyles } from "./more-styles.ts";
import { MORE_ENGLISH } from "./more-texts.ts";
import { hadFocus, place } from "./place.ts";
import { dateFieldValue, snoozePresets } from "./week.ts";

/** Shows the choice in a popover beside the button that asked for it. */
export function openSnoozeMenu(host: Host, menu: HTMLElement, button: Element, choose: (until: Date) => void): void {
  const { locale, maxSnoozeHours } = host;
  const texts = { ...MORE_ENGLISH, ...host.texts };
  const now = new Date();
  const root = menu.getRootNode() as ShadowRoot;
  addStyles(root);
  const close = (until: Date) => {
    menu.hidePopover();
    // The list moves the focus on when the notification leaves it.
    (button as HTMLElement).focus();
    choose(until);
  };
  const presets = snoozePresets(now, maxSnoozeHours).map(({ name, at }) =>
    h(
      "button",
      { type: "button", class: "choice", part: "choice", click: () => close(at) },
      texts[name],
      h("small", {}, at.toLocaleString(locale, { weekday: "short", hour: "numeric", minute: "2-digit" })),
    ),
  );
  const field = h("input", {
    type: "datetime-local",
    required: true,
    "aria-label": texts.pickTime,
    min: dateFieldValue(new Date(+now + 60_000)),
    max: dateFieldValue(new Date(+now + maxSnoozeHours * 3_600_000)),
  });
  const submit = (event: Event) => {
    event.preventDefault();
    close(new Date(field.value));
  };
  const save = h("button", { class: "button primary" }, texts.snooze);
  menu.setAttribute("aria-label", texts.snoozeUntil);
  menu.replaceChildren(h("strong", {}, texts.snoozeUntil), ...presets, h("form", { submit }, field, save));
  menu.ontoggle = (event) => {
    if ((event as ToggleEvent).newState === "closed" && hadFocus(menu)) (button as HTMLElement).focus();
  };
  menu.showPopover();
  place(menu, button);
  menu.querySelector("button")?.focus();
}
