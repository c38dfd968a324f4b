// Makes elements without HTML texts, so that a page may require Trusted Types and forbid inline code.

type Child = Node | string | null | undefined | false;
type Properties = Record<string, unknown>;

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((one): one is Node | string => !!one));
  return element;
}

export function icon(path: string): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const line = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/** A button that shows an icon and says its label. */
export function iconButton(
  label: string,
  path: string,
  click: (event: Event) => void,
  part = "tool",
): HTMLButtonElement {
  return h("button", { type: "button", class: "icon", part, "aria-label": label, title: label, click }, icon(path));
}

export const ICONS = {
  bell: "M6 9a6 6 0 0 1 12 0c0 6 2 8 2 8H4s2-2 2-8M10 21h4",
  check: "M20 6 9 17l-5-5",
  checks: "M18 6 7 17l-5-5M22 10l-8 8",
  dot: "M12 7a5 5 0 1 0 1 0",
  archive: "M3 4h18v4H3zM5 8v12h14V8M10 12h4",
  inbox: "M3 13h5l1 3h6l1-3h5M3 13l3-8h12l3 8v6H3z",
  clock: "M12 3a9 9 0 1 0 1 0M12 7v5l3 2",
  trash: "M4 7h16M6 7l1 13h10l1-13M9 7V4h6v3",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  close: "M18 6 6 18M6 6l12 12",
};
