// The published client without a user interface; tests call it through `window.novu`.
import { Novu } from "@novu/js";

const given = new URLSearchParams(location.search);
const socketType = given.get("socketType");

window.novu = new Novu({
  applicationIdentifier: given.get("application"),
  subscriber: given.get("subscriber"),
  apiUrl: given.get("backend"),
  socketUrl: given.get("socket"),
  ...(socketType && { socketOptions: { socketType } }),
});
window.received = [];
for (const name of ["notification_received", "unread_count_changed", "unseen_count_changed"]) {
  window.novu.on(`notifications.${name}`, (event) => window.received.push({ name, ...event }));
}
