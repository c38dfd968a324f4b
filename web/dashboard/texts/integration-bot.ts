/** Words about the bot of an integration of Telegram. */
export const texts = {
  webhookTitle: "Messages to the bot",
  webhookLead:
    "People connect their chats by a link that opens the bot. For that, Telegram reports to this service what they write. Do it again when the integration gets another bot.",
  configure: "Configure webhook",
  configured: (name: string) => `Telegram reports what people write to @${name}, to this address:`,
  phoneTitle: "Connect a bot on a phone",
  phoneLead:
    "Make a page for the phone where Telegram is. Whoever opens it, without logging in, gives the integration the token of a bot, once and within five minutes.",
  makePage: "Make the page",
  pageMade: "Open this address on the phone:",
};
