// What the page knows of the robot: parts that come whole, and tables that come as deltas with revisions.

import type { Delta, DeltaItems, Hello, Part, PartValues } from "./protocol";

export type TableName = keyof DeltaItems;
export type PartName = keyof PartValues;
export type Key = number | string;
export type Topic = TableName | PartName | "hello";

/** Rows that a table keeps at most; the ones that came first go first. */
export const MOST_ROWS: Record<TableName, number> = {
  entities: 40_000,
  decisions: 2_000,
  beliefs: 5_000,
  events: 5_000,
  memories: 2_000,
};

/** Rows by id, at the revision of the last delta that fitted. */
export class Table<Row extends { id: Key }> {
  readonly rows = new Map<Key, Row>();
  revision = 0;

  constructor(private readonly most: number) {}

  /** Take a delta; false where one before it is missing, and then nothing has changed. */
  apply(delta: Delta): boolean {
    if (delta.previous === 0) this.rows.clear();
    else if (delta.previous !== this.revision) return delta.revision <= this.revision;
    for (const key of delta.removed) this.rows.delete(key);
    for (const row of delta.changed as Row[]) this.rows.set(row.id, row);
    for (const key of this.rows.keys()) {
      if (this.rows.size <= this.most) break;
      this.rows.delete(key);
    }
    this.revision = delta.revision;
    return true;
  }
}

/** Parts and tables of one robot, with listeners that are told once per round of changes. */
export class Store {
  hello: Hello | null = null;
  readonly tables: { [Name in TableName]: Table<DeltaItems[Name]> };
  private readonly parts: Partial<PartValues> = {};
  private readonly listeners = new Map<Topic, Set<() => void>>();
  private readonly dirty = new Set<Topic>();

  /** `schedule` runs a function soon, such as before the next frame. */
  constructor(private readonly schedule: (flush: () => void) => void) {
    const table = <Name extends TableName>(name: Name) => new Table<DeltaItems[Name]>(MOST_ROWS[name]);
    this.tables = {
      entities: table("entities"),
      decisions: table("decisions"),
      beliefs: table("beliefs"),
      events: table("events"),
      memories: table("memories"),
    };
  }

  part<Name extends PartName>(name: Name): PartValues[Name] | undefined {
    return this.parts[name];
  }

  rows<Name extends TableName>(name: Name): Map<Key, DeltaItems[Name]> {
    return this.tables[name].rows;
  }

  greet(hello: Hello): void {
    this.hello = hello;
    this.parts.lease = { lease: hello.lease };
    this.mark("hello");
    this.mark("lease");
  }

  setPart(message: Part): void {
    (this.parts as Record<string, unknown>)[message.name] = message.value;
    this.mark(message.name as Topic);
  }

  /** Take a delta; false where the table must be asked for anew. A table that this page does not know is left alone. */
  applyDelta(message: Delta): boolean {
    const table = (this.tables as unknown as Record<string, Table<{ id: Key }> | undefined>)[message.name];
    if (!table) return true;
    const fitted = table.apply(message);
    if (fitted) this.mark(message.name as Topic);
    return fitted;
  }

  /** Have `listener` called after changes of any of the topics; returns what ends it. */
  subscribe(topics: readonly Topic[], listener: () => void): () => void {
    for (const topic of topics) {
      const listeners = this.listeners.get(topic) ?? new Set();
      listeners.add(listener);
      this.listeners.set(topic, listeners);
    }
    return () => topics.forEach((topic) => this.listeners.get(topic)?.delete(listener));
  }

  private mark(topic: Topic): void {
    if (this.dirty.size === 0) this.schedule(() => this.flush());
    this.dirty.add(topic);
  }

  private flush(): void {
    const told = new Set<() => void>();
    for (const topic of this.dirty) this.listeners.get(topic)?.forEach((listener) => told.add(listener));
    this.dirty.clear();
    told.forEach((listener) => listener());
  }
}
