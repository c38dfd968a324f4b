/** Words of the list of subscribers. */
import { countText } from "../../ui/formats.ts";
export const texts = {
  title: "Subscribers",
  lead: "The people who can get notifications in this environment.",
  search: "Search",
  searchHint: "Id, name, email or phone",
  order: "Order",
  orders: { newest: "Newest first", oldest: "Oldest first", changed: "Changed last" },
  create: "New subscriber",
  createAction: "Create subscriber",
  created: (name: string) => `${name} created`,
  importPeople: "Import CSV",
  columns: {
    name: "Name",
    id: "Id",
    contact: "Contact",
    email: "Email",
    phone: "Phone",
    devices: "Chat and push",
    created: "Created",
  },
  count: (total: number, isCapped: boolean) => countText(total, "subscriber", "subscribers", isCapped),
  empty: "Nobody here yet",
  emptyHint:
    "Create a subscriber, import a file, or let a trigger create them: whoever it names as a recipient appears here.",
  emptyHintViewer:
    "People appear here when your application creates them, or when a trigger names them as a recipient.",
  nobody: (text: string) => `Nobody matches “${text}”`,
  nobodyHint: "Search by the beginning of an id, or by any part of an email address, a phone number or a name.",
  onlyBest: (count: number) => `The ${count} best results are shown. Type more to narrow the search.`,
  matched: {
    _id: "internal id",
    subscriberId: "id",
    email: "email",
    phone: "phone",
    name: "name",
  } as Record<string, string>,
  foundBy: "Found by",
};
