/** Shows HTML that the page around it sends, without loading anything from elsewhere. */
import { applyScheme, withoutRequests } from "./frame-content.ts";

addEventListener("message", (event: MessageEvent) => {
  if (event.source !== parent || typeof event.data?.html !== "string") {
    return;
  }
  const shown = new DOMParser().parseFromString(event.data.html, "text/html");
  withoutRequests(shown);
  // Links would lead away in the frame; in a new window, which its sandbox forbids, they do nothing.
  const base = document.createElement("base");
  base.target = "_blank";
  document.head.replaceChildren(base, ...document.adoptNode(shown.head).childNodes);
  document.documentElement.lang = shown.documentElement.lang;
  document.documentElement.dir = shown.documentElement.dir;
  document.body.replaceWith(document.adoptNode(shown.body));
  applyScheme(document, event.data.scheme);
  parent.postMessage({ height: document.documentElement.scrollHeight }, "*");
});

parent.postMessage("ready", "*");
