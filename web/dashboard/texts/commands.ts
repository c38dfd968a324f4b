/** Words about commands that do what a page does. */
export const texts = {
  label: "Language",
  languages: { curl: "curl", javascript: "JavaScript", python: "Python" },
};
