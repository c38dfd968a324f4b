// What /inbox.js is: the element, defined, and the client for pages that draw their own inbox.

import { ClarionInbox } from "./element.ts";

export { InboxClient, InboxError } from "./client.ts";
export { ClarionInbox };

if (!customElements.get("clarion-inbox")) customElements.define("clarion-inbox", ClarionInbox);
