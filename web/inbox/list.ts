// The list of one view and tab: pages, live arrival, what a person does with notifications, and the keyboard.

import { InboxError } from "./client.ts";
import { h } from "./dom.ts";
import { fitsView, fullTime, plainText, type View, viewFilter } from "./formats.ts";
import type { Host, Tab } from "./host.ts";
import { controlsOf, type ItemActions, renderItem, renderTime } from "./item.ts";
import { loadMore } from "./load-more.ts";
import type { ActionKind, Notification, Page } from "./shapes.ts";
import { fill } from "./texts.ts";

const PAGE = 15;
const SEEN_AFTER = 1000;
const DELETE_AFTER = 6000;

export class ListView implements ItemActions {
  readonly element: HTMLElement;
  view: View = "inbox";
  tab: Tab | undefined;
  readonly #host: Host;
  readonly #list = h("ul", { part: "list", role: "list", keydown: (event: KeyboardEvent) => this.#move(event) });
  readonly #end = h("div", { class: "end" });
  readonly #news = h("button", { type: "button", class: "news button primary", part: "news", hidden: true });
  readonly #menu = h("div", { class: "menu", part: "menu", popover: "auto", role: "dialog" });
  #items: Notification[] = [];
  #hasMore = false;
  #isLoading = false;
  /** Grows when the list is replaced: answers to earlier requests are then too late. */
  #generation = 0;
  #newCount = 0;
  /** Ends when all changes under way are answered: a list that is fetched before would not show them. */
  #acting: Promise<unknown> = Promise.resolve();
  #currentId = "";
  #seenTimer: ReturnType<typeof setTimeout> | undefined;
  #deletion: { send: () => void; timer: ReturnType<typeof setTimeout> } | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.element = h("div", { class: "scroll", part: "scroll" }, this.#news, this.#list, this.#end, this.#menu);
    this.#news.addEventListener("click", () => this.element.scrollTo({ top: 0 }));
    this.element.addEventListener("scroll", () => this.#scrolled());
    this.#list.addEventListener("focusin", (event) => this.#setCurrent(event.target as Element));
    new IntersectionObserver(
      (entries) => {
        if (entries.some((one) => one.isIntersecting) && this.#hasMore && !this.#isLoading) void this.#load();
      },
      { root: this.element, rootMargin: "300px" },
    ).observe(this.#end);
  }

  /** Shows the first page of a view and tab. */
  async show(view: View, tab: Tab | undefined): Promise<void> {
    const isOther = view !== this.view || tab !== this.tab;
    this.view = view;
    this.tab = tab;
    this.#generation += 1;
    this.#isLoading = false;
    if (isOther) this.#setItems([]);
    this.element.scrollTop = 0;
    await this.#load({ isFirst: true });
  }

  receive(one: Notification): void {
    this.#items = this.#items.filter((other) => other.id !== one.id);
    if (!this.#fits(one)) return;
    this.#setItems([one, ...this.#items]);
    if (this.element.scrollTop > 0) this.#setNewCount(this.#newCount + 1);
    this.#markSeenSoon();
  }

  /** Takes over the newest page after a lost connection. */
  catchUp(page: Page): void {
    if (this.view !== "inbox" || this.tab?.tags?.length) {
      void this.show(this.view, this.tab);
      return;
    }
    const last = this.#items.findIndex((one) => one.id === page.data.at(-1)?.id);
    // More arrived than fits on the page: what lies between is fetched by scrolling.
    if (last < 0) this.#hasMore = page.hasMore;
    this.#setItems([...page.data, ...(last < 0 ? [] : this.#items.slice(last + 1))]);
  }

  /** Applies what was done to all notifications. */
  changeAll(change: (one: Notification) => Notification): void {
    this.#setItems(this.#items.map(change).filter((one) => this.#fits(one)));
    if (!this.#items.length && this.#hasMore) void this.#load();
  }

  focusFirst(): void {
    this.#rows()[0]?.querySelector<HTMLElement>(".main")?.focus();
  }

  updateTimes(): void {
    for (const time of this.#list.querySelectorAll("time")) renderTime(time, this.#host.locale);
  }

  /** Sends what can no longer be undone. */
  flush(): void {
    clearTimeout(this.#deletion?.timer);
    this.#deletion?.send();
  }

  markSeen(): void {
    const { top, bottom } = this.element.getBoundingClientRect();
    const rows = this.#rows();
    const ids = this.#items
      .filter((one, index) => {
        const box = rows[index]?.getBoundingClientRect();
        return !one.isSeen && box && box.height > 0 && box.bottom > top && box.top < bottom;
      })
      .map((one) => one.id);
    if (!ids.length) return;
    for (const one of this.#items) if (ids.includes(one.id)) one.isSeen = true;
    void this.#host.client.seen(ids).catch(() => {});
  }

  // Actions

  open(one: Notification): void {
    const reading = one.isRead
      ? Promise.resolve()
      : this.#act(one, { isRead: true }, () => this.#host.client.read(one.id));
    this.#host.navigate(one.redirect, one, reading);
  }

  press(one: Notification, kind: ActionKind): void {
    const name = `${kind}Action` as const;
    const action = one[name];
    if (!action) return;
    const change = { [name]: { ...action, isCompleted: true }, isRead: true };
    const completing = action.isCompleted
      ? Promise.resolve()
      : this.#act(one, change, () => this.#host.client.complete(one.id, kind));
    this.#host.navigate(action.redirect, one, completing);
  }

  read(one: Notification, isRead: boolean): void {
    const { client } = this.#host;
    void this.#act(one, { isRead, isArchived: false }, () => (isRead ? client.read(one.id) : client.unread(one.id)));
  }

  archive(one: Notification, isArchived: boolean): void {
    const { client, texts } = this.#host;
    const archive = (id: string, flag: boolean) => (flag ? client.archive(id) : client.unarchive(id));
    const change = isArchived ? { isArchived, isRead: true } : { isArchived };
    void this.#act(one, change, () => archive(one.id, isArchived)).then((done) => {
      if (!done) return;
      this.#host.say(isArchived ? texts.archived : texts.unarchivedOne, () => {
        const wasRead = !isArchived || one.isRead;
        void this.#act(one, {}, () => (wasRead ? archive(one.id, !isArchived) : client.unread(one.id)));
      });
    });
  }

  snooze(one: Notification, button: Element): void {
    loadMore()
      .then(({ openSnoozeMenu }) =>
        openSnoozeMenu(this.#host, this.#menu, button, (until) => this.#snoozeUntil(one, until)),
      )
      .catch((error) => this.#host.fail(error));
  }

  unsnooze(one: Notification): void {
    const change = { isSnoozed: false, snoozedUntil: null };
    void this.#act(one, change, () => this.#host.client.unsnooze(one.id));
  }

  /** Deleting cannot be undone at the server, so it waits until the person can no longer undo it here. */
  delete(one: Notification): void {
    this.flush();
    const restore = () => this.#put(one);
    const send = () => {
      this.#deletion = undefined;
      this.#host.client.delete(one.id).catch((error) => {
        restore();
        this.#host.fail(error);
      });
    };
    this.#deletion = { send, timer: setTimeout(send, DELETE_AFTER) };
    this.remove(one.id);
    this.#host.say(this.#host.texts.deletedOne, () => {
      clearTimeout(this.#deletion?.timer);
      this.#deletion = undefined;
      restore();
    });
  }

  #snoozeUntil(one: Notification, until: Date): void {
    const { client, texts, locale } = this.#host;
    const change = { isSnoozed: true, snoozedUntil: until.toISOString() };
    void this.#act(one, change, () => client.snooze(one.id, until)).then((done) => {
      if (!done) return;
      const undo = () => void this.#act(one, {}, () => client.unsnooze(one.id));
      this.#host.say(fill(texts.snoozedUntil, fullTime(until, locale)), undo);
    });
  }

  /** Shows a change at once, and takes it back if the server refuses it. */
  async #act(
    one: Notification,
    change: Partial<Notification>,
    send: () => Promise<Notification | null>,
  ): Promise<boolean> {
    const generation = this.#generation;
    const changed = { ...one, ...change };
    this.#put(changed);
    try {
      const sending = send();
      this.#acting = Promise.allSettled([this.#acting, sending]);
      const answer = await sending;
      // It may have been changed again, or all may have been, while the answer was on its way.
      if (answer && this.#items.includes(changed)) this.#put(answer);
      return true;
    } catch (error) {
      if (generation === this.#generation) this.#put(one);
      this.#host.fail(error);
      return false;
    }
  }

  // The list

  async #load({ isFirst = false } = {}): Promise<void> {
    const generation = this.#generation;
    this.#isLoading = true;
    this.#renderEnd();
    try {
      await this.#acting;
      const after = isFirst ? undefined : this.#items.at(-1)?.id;
      const page = await this.#host.client.list({
        ...viewFilter(this.view),
        limit: PAGE,
        ...(this.tab?.tags?.length ? { tags: this.tab.tags } : {}),
        ...(after ? { after } : {}),
      });
      if (generation !== this.#generation) return;
      const known = new Set(isFirst ? [] : this.#items.map((one) => one.id));
      const fresh = page.data.filter((one) => !known.has(one.id));
      this.#hasMore = page.hasMore && fresh.length > 0;
      this.#isLoading = false;
      this.#setItems(isFirst ? fresh : [...this.#items, ...fresh]);
      this.#markSeenSoon();
    } catch (error) {
      if (generation !== this.#generation) return;
      this.#isLoading = false;
      this.#hasMore = false;
      this.#renderEnd(error);
    }
  }

  /** Shows a notification in its place, or takes it out if it does not belong into this view. */
  #put(one: Notification): void {
    if (!this.#fits(one)) {
      this.remove(one.id);
      return;
    }
    const items = [...this.#items];
    const index = items.findIndex((other) => other.id === one.id);
    if (index >= 0) items[index] = one;
    else {
      const next = items.findIndex((other) => other.createdAt < one.createdAt);
      // One that is older than all of these comes with a later page, which begins after the last of these.
      if (next < 0 && this.#hasMore) return;
      items.splice(next < 0 ? items.length : next, 0, one);
    }
    this.#setItems(items);
  }

  #fits(one: Notification): boolean {
    return fitsView(one, this.view, this.tab?.tags);
  }

  remove(id: string): void {
    this.#setItems(this.#items.filter((one) => one.id !== id));
  }

  /** Renders what changed, and keeps the focus where it was, or on the next notification if that one is gone. */
  #setItems(items: Notification[]): void {
    const old = new Map(this.#rows().map((row, index) => [row.dataset.id, { row, index }]));
    const focused = this.#focused();
    const held = focused?.closest("li");
    const position = held ? controlsOf(held).indexOf(focused as HTMLElement) : -1;
    const shown = new Map(this.#items.map((one) => [one.id, one]));
    const rows = items.map((one) => {
      const known = old.get(one.id);
      return known && shown.get(one.id) === one ? known.row : renderItem(one, this.#host, this);
    });
    this.#items = items;
    reconcile(this.#list, rows);
    this.#renderEnd();
    this.#setCurrent(rows.find((row) => row.dataset.id === this.#currentId) ?? rows[0]);
    if (!held || this.#focused()) return;
    const same = rows.find((row) => row.dataset.id === held.dataset.id);
    const next = same ?? rows[Math.min(old.get(held.dataset.id)?.index ?? 0, rows.length - 1)];
    const controls = next ? controlsOf(next) : [];
    (same
      ? (controls[position] ?? controls.at(-1))
      : (controls[0] ?? this.element.closest<HTMLElement>(".panel"))
    )?.focus();
  }

  #renderEnd(error?: unknown): void {
    const { texts } = this.#host;
    this.#list.setAttribute("aria-busy", String(this.#isLoading));
    this.#end.replaceChildren();
    if (error) {
      const message = error instanceof InboxError ? error.message : String(error);
      const again = h("button", {
        type: "button",
        class: "button",
        click: () => this.#load({ isFirst: !this.#items.length }),
      });
      again.append(texts.tryAgain);
      this.#end.append(h("p", { class: "error", part: "error", role: "alert" }, message), again);
    } else if (this.#isLoading || this.#hasMore) {
      this.#end.append(h("p", { class: "loading", part: "loading" }, h("span", { class: "hidden" }, texts.loading)));
    } else if (!this.#items.length) {
      const names = {
        inbox: "empty",
        unread: "emptyUnread",
        archived: "emptyArchived",
        snoozed: "emptySnoozed",
      } as const;
      this.#end.append(h("p", { class: "empty", part: "empty" }, texts[names[this.view]]));
    }
  }

  #setNewCount(count: number): void {
    this.#newCount = count;
    this.#news.hidden = count === 0;
    this.#news.textContent = fill(this.#host.texts.newCount, count);
  }

  #scrolled(): void {
    if (this.element.scrollTop === 0) this.#setNewCount(0);
    this.#markSeenSoon();
  }

  #markSeenSoon(): void {
    clearTimeout(this.#seenTimer);
    this.#seenTimer = setTimeout(() => this.markSeen(), SEEN_AFTER);
  }

  // The keyboard: one item is in the tab order; arrows move between items and within one.

  #rows(): HTMLLIElement[] {
    return [...this.#list.children] as HTMLLIElement[];
  }

  #focused(): Element | null {
    const root = this.#list.getRootNode() as ShadowRoot;
    return this.#list.contains(root.activeElement) ? root.activeElement : null;
  }

  #setCurrent(target: Element | undefined): void {
    const current = target?.closest<HTMLElement>("li");
    this.#currentId = current?.dataset.id ?? "";
    for (const row of this.#rows()) for (const control of controlsOf(row)) control.tabIndex = row === current ? 0 : -1;
  }

  #move(event: KeyboardEvent): void {
    const row = (event.target as Element).closest("li");
    if (!row) return;
    const rows = this.#rows();
    const controls = controlsOf(row);
    const isReversed = getComputedStyle(this.element).direction === "rtl";
    const [forward, backward] = isReversed ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
    const place = controls.indexOf(event.target as HTMLElement);
    const index = rows.indexOf(row);
    const main = (at: number) => rows[at] && controlsOf(rows[at])[0];
    const next = {
      ArrowDown: () => main(index + 1),
      ArrowUp: () => main(index - 1),
      Home: () => main(0),
      End: () => main(rows.length - 1),
      [forward as string]: () => controls[place + 1],
      [backward as string]: () => controls[place - 1],
    }[event.key];
    if (!next) return;
    event.preventDefault();
    next()?.focus();
  }
}

/** Puts rows in order without moving those that are in place: a moved element loses the focus. */
function reconcile(list: Element, rows: Element[]): void {
  const wanted = new Set(rows);
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove();
  rows.forEach((row, index) => {
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null);
  });
}

export function announcementOf(one: Notification): string {
  return plainText(one.subject || one.body);
}
