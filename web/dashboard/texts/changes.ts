/** Words about what changed. */
export const texts = {
  field: "Field",
  before: "Before",
  after: "After",
  absent: "none",
};
