/** Tags of MJML with their attributes, for completion. */
import type { TagSpec } from "@codemirror/lang-html";

const BOX = ["padding", "background-color", "css-class"];
const TEXT = ["color", "font-family", "font-size", "font-weight", "line-height", "align"];

export const MJML_TAGS: Record<string, TagSpec> = Object.fromEntries(
  Object.entries({
    mjml: ["lang", "dir"],
    "mj-head": [],
    "mj-title": [],
    "mj-preview": [],
    "mj-attributes": [],
    "mj-all": TEXT,
    "mj-class": ["name", ...TEXT],
    "mj-style": ["inline"],
    "mj-font": ["name", "href"],
    "mj-breakpoint": ["width"],
    "mj-body": ["width", "background-color", "css-class"],
    "mj-wrapper": [...BOX, "border", "border-radius", "full-width"],
    "mj-section": [...BOX, "direction", "full-width", "text-align", "background-url", "border", "border-radius"],
    "mj-group": ["width", "direction", "vertical-align", "background-color", "css-class"],
    "mj-column": [...BOX, "width", "vertical-align", "border", "border-radius", "inner-background-color"],
    "mj-text": [...BOX, ...TEXT, "text-decoration", "text-transform", "height"],
    "mj-button": [...BOX, ...TEXT, "href", "target", "border", "border-radius", "inner-padding", "width"],
    "mj-image": [...BOX, "src", "alt", "href", "width", "height", "align", "border-radius", "fluid-on-mobile", "title"],
    "mj-divider": [...BOX, "border-color", "border-style", "border-width", "width", "align"],
    "mj-spacer": [...BOX, "height"],
    "mj-table": [...BOX, ...TEXT, "cellpadding", "cellspacing", "width"],
    "mj-social": [...BOX, ...TEXT, "mode", "icon-size", "border-radius"],
    "mj-social-element": [...TEXT, "name", "href", "src", "alt"],
    "mj-navbar": [...BOX, "base-url", "hamburger"],
    "mj-navbar-link": [...TEXT, "href"],
    "mj-hero": [...BOX, "mode", "height", "background-url", "background-width", "background-height", "vertical-align"],
    "mj-raw": [],
  }).map(([tag, attributes]) => [tag, { attrs: Object.fromEntries(attributes.map((name) => [name, null])) }]),
);
