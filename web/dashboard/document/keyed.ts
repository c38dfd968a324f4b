/** Lists of things with keys, such as steps and their variants, as two people have them. */
type Keyed = { key: string };

export function findKeyed<Item extends Keyed>(items: readonly Item[], key: string): Item | undefined {
  return items.find((item) => item.key === key);
}

/** All keys that occur in any of the lists. */
export function keysOf(...lists: readonly (readonly Keyed[])[]): string[] {
  return [...new Set(lists.flatMap((items) => items.map(({ key }) => key)))];
}

/** The keys of a list that all have, in its order. */
export function commonOrder(items: readonly Keyed[], ...all: readonly (readonly Keyed[])[]): string[] {
  return keysOf(items).filter((key) => all.every((list) => findKeyed(list, key)));
}

/** Items in the order of one of the lists; those that only the other one has come after the one before them there. */
export function inOrder<Item extends Keyed>(
  items: readonly Item[],
  first: readonly Keyed[],
  second: readonly Keyed[],
): Item[] {
  const others = keysOf(second);
  const keys = keysOf(first).filter((key) => findKeyed(items, key));
  others.forEach((key, index) => {
    if (!keys.includes(key) && findKeyed(items, key)) {
      const before = others.slice(0, index).findLast((one) => keys.includes(one));
      keys.splice(before === undefined ? 0 : keys.indexOf(before) + 1, 0, key);
    }
  });
  return keys.flatMap((key) => findKeyed(items, key) ?? []);
}
