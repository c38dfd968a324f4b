/**
 * Take out what a mail would load or run: looking at it here must not count as opened by the person, nor tell anybody
 * else. The policy of the frame forbids it as well; this shows what stood there.
 */
export function withoutRequests(shown: Document): void {
  for (const element of shown.querySelectorAll(
    "script, link, base, meta, iframe, object, embed, audio, video, source",
  )) {
    element.remove();
  }
  for (const image of shown.querySelectorAll("img")) {
    if (!image.src.startsWith("data:")) {
      image.replaceWith(placeholderOf(image));
    }
  }
  for (const element of shown.querySelectorAll("[background]")) {
    element.removeAttribute("background");
  }
  for (const element of shown.querySelectorAll("*")) {
    for (const name of element.getAttributeNames().filter((one) => one.startsWith("on"))) {
      element.removeAttribute(name);
    }
  }
  for (const style of shown.querySelectorAll("style")) {
    style.textContent = withoutAddresses(style.textContent ?? "");
  }
  for (const element of shown.querySelectorAll<HTMLElement>("[style]")) {
    element.setAttribute("style", withoutAddresses(element.getAttribute("style") ?? ""));
  }
}

/** Style sheets and pictures of other addresses; data in the text itself stays. */
export function withoutAddresses(styles: string): string {
  return styles
    .replace(/@import[^;]*;?/gi, "")
    .replace(/url\(\s*(['"]?)(?!\s*data:)[^)]*\)/gi, "none")
    .replace(/image-set\([^;}]*/gi, "none");
}

/** Let styles see a theme, whatever that of the browser is. */
export function applyScheme(shown: Document, scheme: unknown): void {
  shown.documentElement.style.colorScheme = scheme === "dark" || scheme === "light" ? scheme : "";
  if (scheme !== "dark" && scheme !== "light") {
    return;
  }
  for (const sheet of shown.styleSheets) {
    applyToRules(sheet.cssRules, scheme);
  }
}

function applyToRules(rules: CSSRuleList, scheme: "light" | "dark"): void {
  for (const rule of rules) {
    if (rule instanceof CSSMediaRule) {
      rule.media.mediaText = mediaFor(rule.media.mediaText, scheme);
    }
    if (rule instanceof CSSGroupingRule) {
      applyToRules(rule.cssRules, scheme);
    }
  }
}

/** A condition of media with the answer in the place of the question about the theme. */
export function mediaFor(condition: string, scheme: "light" | "dark"): string {
  return condition.replace(/\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi, (_, asked: string) =>
    asked.toLowerCase() === scheme ? "(min-width: 0px)" : "(max-width: -1px)",
  );
}

function placeholderOf(image: HTMLImageElement): HTMLElement {
  const place = image.ownerDocument.createElement("span");
  place.textContent = image.alt ? `[${image.alt}]` : "[picture]";
  place.title = image.getAttribute("src") ?? "";
  place.setAttribute(
    "style",
    "display:inline-block;padding:4px;border:1px dashed #888;color:#555;font:12px sans-serif",
  );
  return place;
}
