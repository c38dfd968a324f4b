// The texts of the preferences and of the choice of a snooze.

export const MORE_ENGLISH = {
  snoozeUntil: "Snooze until",
  inAnHour: "In an hour",
  tomorrow: "Tomorrow morning",
  nextWeek: "Next week",
  pickTime: "Another time",
  allWorkflows: "All notifications",
  required: "Always sent",
  in_app: "In-app",
  email: "Email",
  sms: "SMS",
  chat: "Chat",
  push: "Push",
  tool: "Tools",
  schedule: "Delivery hours",
  scheduleSwitch: "Only at these times",
  scheduleHelp: "Outside these hours you get no email, SMS, chat or push.",
  from: "From",
  to: "To",
  saved: "Saved",
};

export type MoreTexts = Record<keyof typeof MORE_ENGLISH, string>;
