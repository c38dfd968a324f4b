// The preferences of the person: channels of all workflows and of each, and delivery hours.

import { h, iconButton } from "./dom.ts";
import type { Host } from "./host.ts";
import { addStyles } from "./more-styles.ts";
import { MORE_ENGLISH, type MoreTexts } from "./more-texts.ts";
import type { Channel, Day, Hours, Preference, Schedule } from "./shapes.ts";
import { DAYS, dayName, timeFieldValue, twelveHourTime } from "./week.ts";

const CHANNELS: readonly Channel[] = ["in_app", "email", "sms", "chat", "push", "tool"];
const WORKDAY: Hours = { start: "09:00 AM", end: "05:00 PM" };

const BACK = "M15 18l-6-6 6-6";

/** Shows the preferences in the place of the list, which comes back by a button. */
export function showPreferences(
  host: Host,
  panel: HTMLElement,
  [close, message]: [HTMLElement | false, HTMLElement],
  showList: () => void,
): Promise<void> {
  const { texts } = host;
  const back = iconButton(texts.back, BACK, () => {
    showList();
    panel.querySelector<HTMLElement>(`[aria-label="${CSS.escape(texts.preferences)}"]`)?.focus();
  });
  back.classList.add("flip");
  const body = h("div", { class: "scroll preferences", part: "preferences" });
  panel.replaceChildren(h("header", { part: "header" }, back, h("h2", {}, texts.preferences), close), body, message);
  back.focus();
  return new PreferencesView(host, body).show();
}

class PreferencesView {
  readonly element: HTMLElement;
  readonly #host: Host;
  readonly #texts: MoreTexts;
  #preferences: Preference[] = [];

  constructor(host: Host, element: HTMLElement) {
    this.#host = host;
    this.element = element;
    addStyles(element.getRootNode() as ShadowRoot);
    this.#texts = { ...MORE_ENGLISH, ...host.texts };
  }

  async show(): Promise<void> {
    this.#preferences = await this.#host.client.preferences("all");
    this.#render();
  }

  #render(): void {
    const texts = this.#texts;
    const [global] = this.#preferences;
    this.element.replaceChildren(
      ...this.#preferences
        .filter((one) => Object.keys(one.channels).length)
        .map((one) => this.#renderChannels(one, one.workflow?.name ?? texts.allWorkflows)),
    );
    if (global?.level === "global") this.element.firstElementChild?.after(this.#renderSchedule(global.schedule));
  }

  #renderChannels(one: Preference, title: string): HTMLElement {
    const texts = this.#texts;
    const isCritical = !!one.workflow?.critical;
    const switches = CHANNELS.filter((channel) => channel in one.channels).map((channel) =>
      renderSwitch(
        texts[channel],
        !!one.channels[channel],
        isCritical,
        (isOn) => this.#change(one, channel, isOn),
        channel,
      ),
    );
    return h(
      "fieldset",
      { part: "preference" },
      h("legend", {}, title, isCritical && h("small", {}, texts.required)),
      h("div", { class: "switches" }, ...switches),
    );
  }

  async #change(one: Preference, channel: Channel, isOn: boolean): Promise<boolean> {
    const isSaved = await this.#save(() => this.#host.client.updatePreference({ [channel]: isOn }, one.workflow?.id));
    if (!isSaved) return false;
    // A choice for all workflows replaces those for single ones.
    if (one.level === "global") {
      for (const field of this.element.querySelectorAll<HTMLInputElement>(`[name=${channel}]:enabled`))
        field.checked = isOn;
    }
    return true;
  }

  async #save(send: () => Promise<unknown>): Promise<boolean> {
    try {
      await send();
      this.#host.say(this.#texts.saved);
      return true;
    } catch (error) {
      this.#host.fail(error);
      return false;
    }
  }

  // Delivery hours

  #renderSchedule(stored: Schedule | undefined): HTMLElement {
    const texts = this.#texts;
    const schedule: Required<Schedule> = { isEnabled: !!stored?.isEnabled, weeklySchedule: weekOf(stored) };
    const days = h("div", { class: "days" });
    const save = () => this.#save(() => this.#host.client.updateSchedule(schedule));
    const render = () =>
      days.replaceChildren(...(schedule.isEnabled ? DAYS.map((day) => this.#renderDay(day, schedule, save)) : []));
    render();
    return h(
      "fieldset",
      { part: "schedule" },
      h("legend", {}, texts.schedule),
      h("p", { class: "help" }, texts.scheduleHelp),
      renderSwitch(texts.scheduleSwitch, schedule.isEnabled, false, async (isOn) => {
        schedule.isEnabled = isOn;
        const isSaved = await save();
        if (!isSaved) schedule.isEnabled = !isOn;
        render();
        return isSaved;
      }),
      days,
    );
  }

  #renderDay(day: Day, schedule: Required<Schedule>, save: () => Promise<boolean>): HTMLElement {
    const texts = this.#texts;
    const name = dayName(day, this.#host.locale);
    const stored = schedule.weeklySchedule[day];
    const own = { isEnabled: !!stored?.isEnabled, hours: stored?.hours?.length ? stored.hours : [{ ...WORKDAY }] };
    schedule.weeklySchedule[day] = own;
    const field = (range: Hours, end: keyof Hours) =>
      h("input", {
        type: "time",
        required: true,
        value: timeFieldValue(range[end]),
        "aria-label": `${name}: ${end === "start" ? texts.from : texts.to}`,
        change: (event: Event) => {
          const { value } = event.target as HTMLInputElement;
          if (!value) return;
          range[end] = twelveHourTime(value);
          void save();
        },
      });
    const ranges = h(
      "div",
      { hidden: !own.isEnabled },
      ...own.hours.map((range) => h("div", {}, field(range, "start"), " – ", field(range, "end"))),
    );
    const toggle = renderSwitch(name, own.isEnabled, false, (isEnabled) => {
      own.isEnabled = isEnabled;
      ranges.hidden = !isEnabled;
      return save();
    });
    return h("div", { class: "day" }, toggle, ranges);
  }
}

/** The stored week, or working days when there is none. */
function weekOf(stored: Schedule | undefined): NonNullable<Schedule["weeklySchedule"]> {
  if (stored?.weeklySchedule) return structuredClone(stored.weeklySchedule);
  return Object.fromEntries(
    DAYS.map((day, index) => [day, index < 5 ? { isEnabled: true, hours: [{ ...WORKDAY }] } : { isEnabled: false }]),
  );
}

/** A switch that goes back if its change is not saved. */
function renderSwitch(
  label: string,
  isOn: boolean,
  isDisabled: boolean,
  change: (isOn: boolean) => Promise<boolean>,
  name?: string,
): HTMLLabelElement {
  const field = h("input", {
    type: "checkbox",
    role: "switch",
    part: "switch",
    name,
    checked: isOn,
    disabled: isDisabled,
  });
  field.addEventListener("change", async () => {
    const wanted = field.checked;
    if (!(await change(wanted))) field.checked = !wanted;
  });
  return h("label", { class: "switch" }, field, label);
}
