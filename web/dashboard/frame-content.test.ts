import assert from "node:assert/strict";
import { test } from "node:test";
import { mediaFor, withoutAddresses } from "./frame-content.ts";

test("styles keep what is in the text, and load nothing", () => {
  assert.equal(withoutAddresses("a{background:url(https://x.example/p.png) red}"), "a{background:none red}");
  assert.equal(withoutAddresses(`a{background:url( "//x.example/p.png" )}`), "a{background:none}");
  assert.equal(
    withoutAddresses("a{background:url(data:image/png;base64,AA)}"),
    "a{background:url(data:image/png;base64,AA)}",
  );
  assert.equal(withoutAddresses('@import "https://x.example/a.css";b{color:red}'), "b{color:red}");
});

test("conditions of media are asked about the chosen theme", () => {
  const dark = "screen and (prefers-color-scheme: dark) and (max-width: 600px)";
  assert.equal(mediaFor(dark, "dark"), "screen and (min-width: 0px) and (max-width: 600px)");
  assert.equal(mediaFor(dark, "light"), "screen and (max-width: -1px) and (max-width: 600px)");
  assert.equal(mediaFor("(prefers-color-scheme:LIGHT)", "light"), "(min-width: 0px)");
  assert.equal(mediaFor("print", "dark"), "print");
});
