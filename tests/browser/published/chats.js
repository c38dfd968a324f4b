// The published buttons for chats, one for each name in the address of the page.
import { NovuUI } from "@novu/js/ui";

const given = new URLSearchParams(location.search);
const ui = new NovuUI({
  options: {
    applicationIdentifier: given.get("application"),
    subscriber: given.get("subscriber"),
    subscriberHash: given.get("hash"),
    apiUrl: given.get("backend"),
    socketUrl: given.get("backend"),
  },
});
for (const name of given.get("components").split(",")) {
  const element = document.body.appendChild(document.createElement("div"));
  element.id = name;
  ui.mountComponent({ name, element, props: { integrationIdentifier: given.get("integration") } });
}
