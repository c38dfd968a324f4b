// Tabs by tags, with the number of unread notifications of each.

import { h } from "./dom.ts";
import { shownCount } from "./formats.ts";
import type { Host, Tab } from "./host.ts";

export class TabBar {
  readonly element = h("div", { class: "tabs", part: "tabs", role: "tablist" });
  current: Tab | undefined;
  readonly #host: Host;
  readonly #choose: (tab: Tab) => void;
  #tabs: Tab[] = [];

  constructor(host: Host, choose: (tab: Tab) => void) {
    this.#host = host;
    this.#choose = choose;
    this.element.addEventListener("keydown", (event) => this.#move(event));
  }

  render(tabs: Tab[]): void {
    this.#tabs = tabs;
    if (!this.current || !tabs.includes(this.current)) this.current = tabs[0];
    this.element.hidden = tabs.length === 0;
    this.element.setAttribute("aria-label", this.#host.texts.notifications);
    this.element.replaceChildren(
      ...tabs.map((tab) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            part: "tab",
            "aria-selected": String(tab === this.current),
            tabindex: tab === this.current ? 0 : -1,
            click: () => this.#select(tab),
          },
          tab.label,
          h("span", { class: "count", part: "tab-count", hidden: true }),
        ),
      ),
    );
  }

  async count(): Promise<void> {
    const tabs = this.#tabs;
    if (!tabs.length) return;
    const unread = { read: false, archived: false, snoozed: false };
    try {
      const counts = await this.#host.client.count(tabs.map(({ tags }) => (tags ? { ...unread, tags } : unread)));
      if (tabs !== this.#tabs) return;
      [...this.element.children].forEach((button, index) => {
        const shown = button.querySelector("span") as HTMLElement;
        shown.hidden = !counts[index];
        shown.textContent = shownCount(counts[index] ?? 0);
      });
    } catch {
      // The next change counts again.
    }
  }

  #select(tab: Tab): void {
    this.current = tab;
    [...this.element.children].forEach((button, index) => {
      const isCurrent = this.#tabs[index] === tab;
      button.setAttribute("aria-selected", String(isCurrent));
      (button as HTMLElement).tabIndex = isCurrent ? 0 : -1;
      if (isCurrent) (button as HTMLElement).focus();
    });
    this.#choose(tab);
  }

  #move(event: KeyboardEvent): void {
    const isReversed = getComputedStyle(this.element).direction === "rtl";
    const steps: Record<string, number> = { ArrowRight: isReversed ? -1 : 1, ArrowLeft: isReversed ? 1 : -1 };
    const { length } = this.#tabs;
    const index = this.current ? this.#tabs.indexOf(this.current) : 0;
    const step = steps[event.key];
    const next = event.key === "Home" ? 0 : event.key === "End" ? length - 1 : step && (index + step + length) % length;
    const tab = next === undefined ? undefined : this.#tabs[next];
    if (!tab) return;
    event.preventDefault();
    this.#select(tab);
  }
}
