// The published component as an application uses it; everything it is given stands in the address of the page.
import { Inbox } from "published-inbox";
import { createRoot } from "react-dom/client";

const given = new URLSearchParams(location.search);
const socketType = given.get("socketType");
// Outside of the component: a new object for each render would begin a new session.
const options = {
  applicationIdentifier: given.get("application"),
  subscriber: given.get("subscriber"),
  backendUrl: given.get("backend"),
  socketUrl: given.get("socket"),
  ...(given.has("hash") && { subscriberHash: given.get("hash") }),
  ...(socketType && { socketOptions: { socketType } }),
  ...(given.has("tabs") && { tabs: JSON.parse(given.get("tabs")) }),
  ...(given.has("preferences") && { preferencesFilter: JSON.parse(given.get("preferences")) }),
};

createRoot(document.getElementById("root")).render(<Inbox {...options} />);
