/** Words of the components. */
import { numberText } from "./formats.ts";
export const texts = {
  product: "Clarion",
  actions: "Actions",
  close: "Close",
  cancel: "Cancel",
  copy: "Copy",
  copied: "Copied",
  loading: "Loading",
  more: "Show more",
  retry: "Try again",
  requestId: "Request",
  suggestions: "Suggestions",
  time: "Time",
  leaveTitle: "Leave without saving?",
  leaveHint: "Your changes are not saved. They are kept in this browser, and are here when you come back.",
  leave: "Leave",
  nothingChosen: "Nothing chosen",
  brushHint: "Drag to choose, or move with the arrow keys, extend with Shift, and confirm with Enter.",
  highest: (count: number) => `Highest: ${numberText(count)}`,
  chosenBars: (first: string, last: string, total: number) =>
    `${first === last ? first : `${first} – ${last}`}: ${numberText(total)}`,
  any: "Any",
  chosen: (count: number) => `${count} chosen`,
  typeToConfirm: (text: string) => `Type ${text} to confirm`,
};
