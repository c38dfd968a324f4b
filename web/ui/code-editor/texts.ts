/** Words of the code editor. */
import { countText } from "../formats.ts";
export const texts = {
  keys: "Press Control and Space for suggestions. Tab leaves the editor.",
  line: (line: number, message: string) => `Line ${line}: ${message}`,
  more: (count: number) => countText(count, "more problem", "more problems"),
  missing: (what: string) => `${what} is missing.`,
  unexpected: (what: string) => `Unexpected ${what}.`,
  valueInstead: (what: string) => `A value is expected instead of ${what}.`,
  value: "A value",
  name: "A name",
  itemName: "The name of an item",
  option: "An option such as limit",
  filterName: "The name of a filter",
  tagName: "The name of the tag",
  noNot: "“not” cannot stand here; use unless.",
  noParentheses: "Parentheses cannot stand here.",
  noEnd: (tag: string) => `{% end${tag} %} is missing.`,
  endExpected: (tag: string) => `{% end${tag} %} is expected here.`,
  noBegin: (tag: string) => `There is no {% ${tag} %} that this ends.`,
  behindEnd: (tag: string) => `Nothing can stand behind end${tag}.`,
  unknownVariable: (name: string) => `There is no variable ${name} here; it is left empty.`,
  unknownTag: (name: string, near: string | undefined) =>
    `There is no tag ${name}${near ? `; do you mean ${near}?` : "."}`,
  unknownFilter: (name: string, near: string | undefined) =>
    `There is no filter ${name}${near ? `; do you mean ${near}?` : "."}`,
};
