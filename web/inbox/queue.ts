// Reads that could not be sent because the browser was offline, kept until they can be.

const MAX_WAITING = 500;

export class ReadQueue {
  readonly #name: string;
  #memory: string[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  list(): string[] {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(this.#name) ?? "[]");
      return Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : [];
    } catch {
      // There is no storage, or it is forbidden: the queue then lasts as long as the page.
      return this.#memory;
    }
  }

  add(id: string): void {
    this.#store([...this.list().filter((one) => one !== id), id].slice(-MAX_WAITING));
  }

  remove(id: string): void {
    const waiting = this.list();
    if (waiting.includes(id)) this.#store(waiting.filter((one) => one !== id));
  }

  #store(ids: string[]): void {
    this.#memory = ids;
    try {
      if (ids.length) localStorage.setItem(this.#name, JSON.stringify(ids));
      else localStorage.removeItem(this.#name);
    } catch {
      // As above.
    }
  }
}
