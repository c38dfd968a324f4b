// <clarion-inbox>: a bell with the number of unread notifications, and the inbox in a popover.

import { type ClientOptions, InboxClient, InboxError } from "./client.ts";
import { h, ICONS, icon, iconButton } from "./dom.ts";
import { fitsView, safeRedirect, shownCount, type View } from "./formats.ts";
import type { Host, Tab } from "./host.ts";
import { announcementOf, ListView } from "./list.ts";
import { loadLanguages, loadMore } from "./load-more.ts";
import { hadFocus, place } from "./place.ts";
import type { Counts, Notification, Redirect, Session } from "./shapes.ts";
import styles from "./styles.css";
import { TabBar } from "./tabs.ts";
import { ENGLISH, fill, type Texts } from "./texts.ts";

const VIEWS: readonly View[] = ["inbox", "unread", "archived", "snoozed"];
const MESSAGE_TIME = 6000;
const RETRY_AFTER = 15_000;
const PROPERTIES = ["tabs", "texts", "context"] as const;

let sheet: CSSStyleSheet | undefined;

export class ClarionInbox extends HTMLElement implements Host {
  static readonly observedAttributes = [
    "application-identifier",
    "subscriber-id",
    "subscriber-hash",
    "context-hash",
    "server",
    "inline",
    "locale",
    ...PROPERTIES,
  ];
  /** Where the script came from: the default of `server`. */
  static origin = new URL(".", import.meta.url).href;

  #client: InboxClient | undefined;
  #session: Session | undefined;
  #texts: Texts = ENGLISH;
  #ownTexts: Partial<Texts> | undefined;
  #unread = 0;
  #tabs: Tab[] = [];
  #context: ClientOptions["context"];
  #isRestarting = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;
  #messageTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #root = this.attachShadow({ mode: "open" });
  readonly #badge = h("span", { class: "badge", part: "badge", "aria-hidden": "true", hidden: true });
  readonly #bell = h("button", { type: "button", class: "bell", part: "bell" }, icon(ICONS.bell), this.#badge);
  readonly #panel = h("div", { class: "panel", part: "panel", role: "dialog", tabindex: "-1" });
  /** What is said to screen readers. */
  readonly #live = h("div", { class: "hidden", role: "status" });
  readonly #message = h("div", { class: "message", part: "message", hidden: true });
  readonly #parts = [this.#bell, this.#panel, this.#live];
  #list = new ListView(this);
  #tabBar = new TabBar(this, (tab) => this.#list.show(this.#list.view, tab));

  constructor() {
    super();
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(styles);
    }
    this.#root.adoptedStyleSheets = [sheet];
    this.#root.append(...this.#parts);
    this.#panel.addEventListener("toggle", (event) => this.#toggled((event as ToggleEvent).newState === "open"));
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" && event.target === this.#panel) this.#list.focusFirst();
    });
  }

  // Attributes and properties

  connectedCallback(): void {
    // A property that was set before the element was defined hides the accessor of the class.
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (this as Partial<this>)[name];
      this[name] = value as never;
    }
    addEventListener("resize", this.#place);
    addEventListener("pagehide", this.#leave);
    this.#restart();
  }

  disconnectedCallback(): void {
    removeEventListener("resize", this.#place);
    removeEventListener("pagehide", this.#leave);
    this.#leave();
    clearTimeout(this.#retry);
    clearInterval(this.#clock);
    this.#client?.stop();
    this.#client = undefined;
  }

  attributeChangedCallback(name: string, _old: string | null, value: string | null): void {
    const property = PROPERTIES.find((one) => one === name);
    try {
      if (property) this[property] = value ? JSON.parse(value) : undefined;
      else this.#restart();
    } catch {
      this.fail(`The attribute ${name} must be JSON`);
    }
  }

  get tabs(): Tab[] {
    return this.#tabs;
  }

  set tabs(tabs: Tab[] | undefined) {
    this.#tabs = tabs ?? [];
    this.#tabBar.render(this.#tabs);
    if (this.isOpen) void this.#list.show(this.#list.view, this.#tabBar.current);
  }

  /** Texts that replace those of the language. */
  get texts(): Texts {
    return this.#texts;
  }

  set texts(texts: Partial<Texts> | undefined) {
    this.#ownTexts = texts;
    this.#restart();
  }

  get context(): ClientOptions["context"] {
    return this.#context;
  }

  set context(context: ClientOptions["context"]) {
    this.#context = context;
    this.#restart();
  }

  get client(): InboxClient {
    if (!this.#client) throw new InboxError("The inbox needs application-identifier and subscriber-id", 0);
    return this.#client;
  }

  /** The language of texts and dates: what the page says, else that of the person, else that of the page. */
  get locale(): string | undefined {
    const locale = this.getAttribute("locale") || this.#session?.locale || this.closest<HTMLElement>("[lang]")?.lang;
    return locale?.replaceAll("_", "-") || undefined;
  }

  set locale(locale: string | undefined) {
    this.setAttribute("locale", locale ?? "");
  }

  get maxSnoozeHours(): number {
    return this.#session?.maxSnoozeDurationHours ?? 0;
  }

  get isOpen(): boolean {
    return this.hasAttribute("inline") || this.#panel.matches(":popover-open");
  }

  show(): void {
    this.#panel.showPopover?.();
  }

  hide(): void {
    this.#panel.hidePopover?.();
  }

  // Life

  /** Begins anew with the present attributes; several changes at once cause one new session. */
  #restart(): void {
    if (this.#isRestarting) return;
    this.#isRestarting = true;
    queueMicrotask(() => {
      this.#isRestarting = false;
      this.#client?.stop();
      this.#client = undefined;
      if (!this.isConnected) return;
      this.#unread = 0;
      this.#session = undefined;
      this.#texts = { ...ENGLISH, ...this.#ownTexts };
      for (const part of this.#parts) {
        part.removeAttribute("lang");
        part.removeAttribute("dir");
      }
      this.#render();
      const applicationIdentifier = this.getAttribute("application-identifier");
      const subscriberId = this.getAttribute("subscriber-id");
      if (applicationIdentifier && subscriberId) this.#start({ applicationIdentifier, subscriberId });
    });
  }

  #start(identity: { applicationIdentifier: string; subscriberId: string }): void {
    const options: ClientOptions = { ...identity, server: this.getAttribute("server") || ClarionInbox.origin };
    const subscriberHash = this.getAttribute("subscriber-hash");
    const contextHash = this.getAttribute("context-hash");
    if (subscriberHash) options.subscriberHash = subscriberHash;
    if (this.#context) options.context = this.#context;
    if (contextHash) options.contextHash = contextHash;
    const client = new InboxClient(options);
    this.#client = client;
    client.on("session", (session) => {
      this.#session = session;
    });
    client.on("counts", (counts) => this.#count(counts));
    client.on("received", (one) => this.#receive(one));
    client.on("updated", (one) => this.#list.changeAll((other) => (other.id === one.id ? one : other)));
    client.on("removed", (id) => this.#list.remove(id));
    client.on("caughtUp", (page) => this.isOpen && this.#list.catchUp(page));
    void this.#connect(client);
  }

  async #connect(client: InboxClient): Promise<void> {
    try {
      await client.start();
      await this.#localize();
      if (client === this.#client && this.isOpen) this.#toggled(true);
    } catch (error) {
      if (client !== this.#client) return;
      const isTemporary = error instanceof InboxError && (error.status === 0 || error.status >= 500);
      if (isTemporary) this.#retry = setTimeout(() => this.#connect(client), RETRY_AFTER);
      this.fail(error);
    }
  }

  /** Takes the texts of the language; they are loaded, unless it is English. */
  async #localize(): Promise<void> {
    const { locale } = this;
    if (!locale || /^en\b/i.test(locale)) return;
    try {
      const { localize } = await loadLanguages();
      this.#texts = { ...ENGLISH, ...localize(this.#parts, locale), ...this.#ownTexts };
      this.#render();
    } catch {
      // English is better than nothing.
    }
  }

  readonly #leave = (): void => this.#list.flush();

  readonly #place = (): void => {
    if (this.#panel.matches(":popover-open")) place(this.#panel, this.#bell);
  };

  #toggled(isOpen: boolean): void {
    clearInterval(this.#clock);
    this.#bell.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) {
      if (hadFocus(this.#panel)) this.#bell.focus();
      this.#list.flush();
      return;
    }
    this.#place();
    if (!this.hasAttribute("inline")) this.#panel.focus();
    this.#clock = setInterval(() => this.#list.updateTimes(), 60_000);
    if (this.#client) void this.#list.show(this.#list.view, this.#tabBar.current);
    void this.#tabBar.count();
  }

  // What is shown

  #render(): void {
    const { texts } = this;
    const isInline = this.hasAttribute("inline");
    this.#panel.setAttribute("aria-label", texts.notifications);
    this.#panel.popover = isInline ? null : "auto";
    this.#panel.setAttribute("role", isInline ? "region" : "dialog");
    this.#bell.hidden = isInline;
    this.#bell.popoverTargetElement = isInline ? null : this.#panel;
    this.#bell.setAttribute("aria-haspopup", "dialog");
    this.#bell.setAttribute("aria-expanded", String(this.isOpen));
    this.#count({ total: this.#unread });
    this.#renderList();
  }

  #renderList(): void {
    const { texts } = this;
    const select = h(
      "select",
      {
        part: "view",
        "aria-label": texts.show,
        change: () => this.#list.show(select.value as View, this.#tabBar.current),
      },
      ...VIEWS.map((view) => h("option", { value: view, selected: view === this.#list.view }, texts[view])),
    );
    const header = h(
      "header",
      { part: "header" },
      select,
      iconButton(texts.markAllRead, ICONS.checks, () => this.#readAll()),
      iconButton(texts.archiveRead, ICONS.archive, () => this.#archiveRead()),
      iconButton(texts.preferences, ICONS.settings, () => this.#showPreferences()),
      this.#closeButton(),
    );
    this.#tabBar.render(this.#tabs);
    this.#panel.replaceChildren(header, this.#tabBar.element, this.#list.element, this.#message);
  }

  #showPreferences(): void {
    loadMore()
      .then(({ showPreferences }) =>
        showPreferences(this, this.#panel, [this.#closeButton(), this.#message], () => this.#renderList()),
      )
      .catch((error) => this.fail(error));
  }

  #closeButton(): HTMLElement | false {
    if (this.hasAttribute("inline")) return false;
    const button = iconButton(this.texts.close, ICONS.close, () => this.hide());
    button.classList.add("close");
    return button;
  }

  #count({ total }: Pick<Counts, "total">): void {
    const { texts } = this;
    this.#unread = total;
    this.#badge.hidden = total === 0;
    this.#badge.textContent = shownCount(total);
    const unread = total ? `, ${fill(texts.unreadCount, shownCount(total))}` : "";
    this.#bell.setAttribute("aria-label", `${texts.notifications}${unread}`);
    this.dispatchEvent(new CustomEvent("clarion-counts", { detail: { total } }));
    if (this.isOpen) void this.#tabBar.count();
  }

  #receive(one: Notification): void {
    this.#list.receive(one);
    this.#announce(fill(this.texts.received, announcementOf(one)));
    this.dispatchEvent(new CustomEvent("clarion-received", { detail: one }));
  }

  #readAll(): void {
    const tags = this.#tabBar.current?.tags ?? [];
    this.#list.changeAll((one) => ({ ...one, isRead: true }));
    this.client.readAll({ tags }).then(
      () => this.say(this.texts.markedAllRead),
      (error) => this.#reload(error),
    );
  }

  #archiveRead(): void {
    const tags = this.#tabBar.current?.tags ?? [];
    this.#list.changeAll((one) => (one.isRead && fitsView(one, "inbox", tags) ? { ...one, isArchived: true } : one));
    this.client.archiveRead({ tags }).then(
      () => this.say(this.texts.archived),
      (error) => this.#reload(error),
    );
  }

  #reload(error: unknown): void {
    this.fail(error);
    void this.#list.show(this.#list.view, this.#tabBar.current);
  }

  // Host

  say(text: string, undo?: () => void): void {
    this.#announce(text);
    this.#show(text, undo);
  }

  fail(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#announce(text);
    this.#show(text);
    this.#message.classList.add("error");
    this.dispatchEvent(new CustomEvent("clarion-error", { detail: error }));
  }

  navigate(redirect: Redirect | null | undefined, notification: Notification, before: Promise<unknown>): void {
    const link = safeRedirect(redirect);
    const event = new CustomEvent("clarion-open", { detail: { notification, ...link }, cancelable: true });
    if (!this.dispatchEvent(event) || !link) return;
    if (link.target === "_blank") open(link.url, "_blank", "noopener,noreferrer");
    else void before.then(() => open(link.url, link.target));
  }

  #show(text: string, undo?: () => void): void {
    clearTimeout(this.#messageTimer);
    this.#message.className = "message";
    this.#message.hidden = false;
    const click = () => {
      this.#message.hidden = true;
      undo?.();
    };
    const button = undo && h("button", { type: "button", class: "link", part: "undo", click }, this.texts.undo);
    this.#message.replaceChildren(h("span", {}, text), ...(button ? [button] : []));
    this.#messageTimer = setTimeout(() => {
      this.#message.hidden = true;
    }, MESSAGE_TIME);
  }

  #announce(text: string): void {
    this.#live.textContent = text;
  }
}
