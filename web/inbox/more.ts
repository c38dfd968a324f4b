// What /inbox-more.js is: what the element shows only after a click, and most pages never.

export { showPreferences } from "./preferences.ts";
export { openSnoozeMenu } from "./snooze.ts";
