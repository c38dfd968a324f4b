import assert from "node:assert/strict";
import { test } from "node:test";
import { fitsView, isSafeImage, plainText, readMarkers, relativeTime, safeRedirect, shownCount } from "./formats.ts";
import type { Notification } from "./shapes.ts";
import { pauseAfter } from "./socket.ts";
import { dayName, snoozePresets, timeFieldValue, twelveHourTime } from "./week.ts";

function render(text: string): string {
  const join = (spans: ReturnType<typeof readMarkers>): string =>
    spans.map((one) => (one.tag ? `<${one.tag}>${join(one.spans ?? [])}</${one.tag}>` : one.text)).join("");
  return join(readMarkers(text));
}

test("markers become bold and italic, and escaped or single asterisks stay", () => {
  assert.equal(render("a **b** c *d*"), "a <strong>b</strong> c <em>d</em>");
  assert.equal(render("**a *b* c**"), "<strong>a <em>b</em> c</strong>");
  assert.equal(render("2 * 3"), "2 * 3");
  assert.equal(render("\\*not\\* and **\\***"), "*not* and <strong>*</strong>");
  assert.equal(render("<b>no</b>"), "<b>no</b>");
  assert.equal(plainText("**a *b*** \\*"), "a b *");
});

test("a long text of asterisks is read in reasonable time", () => {
  assert.ok(render("*".repeat(5000)).length > 0);
  assert.ok(render("**a ".repeat(2000)).length > 0);
});

test("only web addresses and paths of the site are opened", () => {
  assert.deepEqual(safeRedirect({ url: "https://example.com/x" }), { url: "https://example.com/x", target: "_blank" });
  assert.deepEqual(safeRedirect({ url: "/orders", target: "odd" }), { url: "/orders", target: "_self" });
  assert.deepEqual(safeRedirect({ url: "/orders", target: "_top" }), { url: "/orders", target: "_top" });
  const refused = [
    "javascript:alert(1)",
    "//evil.example",
    "/\\evil.example",
    "data:text/html,x",
    "orders",
    "",
    " javascript:x",
  ];
  for (const url of [...refused, "https:///", "JaVaScRiPt:1"]) assert.equal(safeRedirect({ url }), null, url);
  assert.equal(safeRedirect(null), null);
});

test("avatars are web addresses, paths of the site and images in the text", () => {
  for (const url of ["https://example.com/a.png", "/a.png", "data:image/png;base64,x"]) assert.ok(isSafeImage(url));
  for (const url of ["javascript:1", "//x", "data:text/html,x", "", null]) assert.ok(!isSafeImage(url));
});

test("times are told relative to now, and as a date after a week", () => {
  const now = new Date("2026-01-10T12:00:00Z");
  const ago = (minutes: number) => relativeTime(new Date(+now - minutes * 60_000), now, "en");
  assert.equal(ago(0), "now");
  assert.equal(ago(-5), "now");
  assert.equal(ago(5), "5 min. ago");
  assert.equal(ago(125), "2 hr. ago");
  assert.equal(ago(60 * 24), "yesterday");
  assert.match(ago(60 * 24 * 9), /Jan 1, 2026/);
});

test("counts above 99 are cut", () => {
  assert.equal(shownCount(99), "99");
  assert.equal(shownCount(100), "99+");
});

test("snooze presets are in the future and within what the server allows", () => {
  const now = new Date(2026, 0, 5, 22, 0); // a Monday
  const presets = snoozePresets(now, 24 * 30);
  assert.deepEqual(
    presets.map((one) => one.name),
    ["inAnHour", "tomorrow", "nextWeek"],
  );
  assert.ok(presets.every((one) => one.at > now));
  assert.equal(presets[2]?.at.getDay(), 1);
  assert.equal(presets[2]?.at.getDate(), 12);
  assert.deepEqual(
    snoozePresets(now, 1).map((one) => one.name),
    ["inAnHour"],
  );
  assert.deepEqual(snoozePresets(now, 0), []);
});

test("times of delivery hours are read and written in twelve hours", () => {
  for (const [api, field] of [
    ["12:00 AM", "00:00"],
    ["09:05 AM", "09:05"],
    ["12:30 PM", "12:30"],
    ["11:59 PM", "23:59"],
  ] as const) {
    assert.equal(timeFieldValue(api), field);
    assert.equal(twelveHourTime(field), api);
  }
  assert.equal(dayName("monday", "en"), "Monday");
  assert.equal(dayName("sunday", "en"), "Sunday");
});

test("a notification belongs to the views that its state and tags say", () => {
  const make = (state: Partial<Notification>) => ({ tags: ["a"], ...state }) as Notification;
  assert.ok(fitsView(make({}), "inbox", undefined));
  assert.ok(fitsView(make({}), "inbox", ["a", "b"]));
  assert.ok(!fitsView(make({}), "inbox", ["b"]));
  assert.ok(!fitsView(make({ isRead: true }), "unread", undefined));
  assert.ok(!fitsView(make({ isArchived: true }), "inbox", undefined));
  assert.ok(fitsView(make({ isArchived: true }), "archived", undefined));
  assert.ok(!fitsView(make({ isSnoozed: true }), "inbox", undefined));
  assert.ok(fitsView(make({ isSnoozed: true }), "snoozed", undefined));
});

test("pauses between attempts to connect double up to half a minute, and half of each is random", () => {
  assert.equal(
    pauseAfter(1, () => 0),
    500,
  );
  assert.equal(
    pauseAfter(1, () => 1),
    1000,
  );
  assert.equal(
    pauseAfter(3, () => 1),
    4000,
  );
  assert.equal(
    pauseAfter(50, () => 1),
    30_000,
  );
});
