/** The tags and filters of Liquid that the service knows; a test compares them with its registry. */

export type FilterWord = { does: string; with?: string };

export const FILTERS: Record<string, FilterWord> = {
  abs: { does: "Number without its sign" },
  append: { does: "Text with another behind it", with: '"text"' },
  at_least: { does: "Number, or this one if it is smaller", with: "1" },
  at_most: { does: "Number, or this one if it is larger", with: "10" },
  base64_decode: { does: "Text of Base64" },
  base64_encode: { does: "Text as Base64" },
  base64_url_safe_decode: { does: "Text of Base64 for addresses" },
  base64_url_safe_encode: { does: "Text as Base64 for addresses" },
  capitalize: { does: "First letter in upper case" },
  ceil: { does: "Number rounded up" },
  compact: { does: "List without empty items" },
  concat: { does: "List with another behind it", with: "list" },
  currency: { does: "Amount of money as the reader writes it", with: '"EUR"' },
  date: { does: "Moment in a format", with: '"%d %B %Y"' },
  datetime: { does: "Moment as the reader writes it", with: '"short"' },
  decimal: { does: "Number as the reader writes it", with: "2" },
  default: { does: "This value where there is none", with: '"text"' },
  digest: { does: "Names as “Ada, Bob and 3 others”", with: '2, "name"' },
  divided_by: { does: "Number divided", with: "2" },
  downcase: { does: "Text in lower case" },
  escape: { does: "Text with HTML escaped" },
  escape_once: { does: "Text with HTML escaped, but not twice" },
  escapejs: { does: "Text escaped for JavaScript" },
  find: { does: "First item with a value", with: '"field", "value"' },
  find_index: { does: "Index of the first item with a value", with: '"field", "value"' },
  first: { does: "First item" },
  floor: { does: "Number rounded down" },
  has: { does: "Whether an item has a value", with: '"field", "value"' },
  join: { does: "Items as one text", with: '", "' },
  json: { does: "Value as JSON" },
  last: { does: "Last item" },
  local_date: { does: "Date as the reader writes it", with: '"long"' },
  local_list: { does: "Items with the reader’s word for “and”" },
  local_time: { does: "Time as the reader writes it", with: '"short"' },
  lstrip: { does: "Text without space at its start" },
  map: { does: "One field of each item", with: '"field"' },
  minus: { does: "Number less another", with: "1" },
  modulo: { does: "Remainder of a division", with: "2" },
  newline_to_br: { does: "Line breaks as <br>" },
  percent: { does: "Share as a percentage, as the reader writes it" },
  pluralize: { does: "Number with its noun: “3 events”", with: '"event", "events"' },
  plus: { does: "Number and another", with: "1" },
  prepend: { does: "Text with another before it", with: '"text"' },
  reject: { does: "Items without a value", with: '"field", "value"' },
  remove: { does: "Text without every match", with: '"text"' },
  remove_first: { does: "Text without the first match", with: '"text"' },
  remove_last: { does: "Text without the last match", with: '"text"' },
  replace: { does: "Text with every match replaced", with: '"old", "new"' },
  replace_first: { does: "Text with the first match replaced", with: '"old", "new"' },
  replace_last: { does: "Text with the last match replaced", with: '"old", "new"' },
  reverse: { does: "List from its end" },
  round: { does: "Number rounded", with: "2" },
  rstrip: { does: "Text without space at its end" },
  safe: { does: "Text as HTML, not escaped" },
  size: { does: "How many items or characters" },
  slice: { does: "Part of a text or list", with: "0, 10" },
  sort: { does: "Items in order", with: '"field"' },
  sort_natural: { does: "Items in order, upper and lower case alike", with: '"field"' },
  split: { does: "Text as a list", with: '","' },
  squish: { does: "Text with single spaces" },
  strip: { does: "Text without space around it" },
  strip_html: { does: "Text without tags of HTML" },
  strip_newlines: { does: "Text without line breaks" },
  sum: { does: "Sum of the items", with: '"field"' },
  times: { does: "Number multiplied", with: "2" },
  toSentence: { does: "Names as “Ada, Bob, and 3 others”", with: '"name", 2' },
  truncate: { does: "Text up to a length", with: "50" },
  truncatewords: { does: "Text up to a number of words", with: "10" },
  uniq: { does: "Items without repetitions" },
  unit: { does: "Number with its unit, as the reader writes it", with: '"kilometer"' },
  upcase: { does: "Text in upper case" },
  url_decode: { does: "Text of an escaped address" },
  url_encode: { does: "Text escaped for an address" },
  where: { does: "Items with a value", with: '"field", "value"' },
};

export type TagWord = {
  does: string;
  /** Behind the name; `$` marks where the cursor goes. */
  with?: string;
  /** The tag needs an end. */
  isBlock?: boolean;
  /** Tags that may stand directly inside. */
  parts?: readonly string[];
};

export const TAGS: Record<string, TagWord> = {
  if: { does: "Only if something holds", with: "", isBlock: true, parts: ["elsif", "else"] },
  unless: { does: "Only if something does not hold", with: "", isBlock: true, parts: ["elsif", "else"] },
  case: { does: "One of several, by a value", with: "", isBlock: true, parts: ["when", "else"] },
  for: { does: "Once for each item", with: "item in ", isBlock: true, parts: ["else"] },
  tablerow: { does: "Cells of a table, one for each item", with: "item in ", isBlock: true },
  capture: { does: "Store what is written", with: "name", isBlock: true },
  comment: { does: "Left out", isBlock: true },
  doc: { does: "A description, left out", isBlock: true },
  raw: { does: "Written as it is", isBlock: true },
  ifchanged: { does: "Only if it differs from the time before", isBlock: true },
  assign: { does: "Store a value", with: "name = " },
  echo: { does: "Write a value", with: "" },
  cycle: { does: "The next of several values", with: '"odd", "even"' },
  increment: { does: "Write a counter and count up", with: "counter" },
  decrement: { does: "Count down and write a counter", with: "counter" },
  break: { does: "End the loop" },
  continue: { does: "To the next item of the loop" },
  liquid: { does: "Several tags, one a line", with: "" },
  "#": { does: "A remark, left out", with: "" },
};

/** Tags that belong into others. */
export const INNER_TAGS: Record<string, string> = {
  elsif: "Otherwise, if something holds",
  else: "Otherwise",
  when: "If the value is this",
};
