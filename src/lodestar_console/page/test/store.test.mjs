import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_ROWS, Store, Table } from "../src/store";
import { chance } from "./chance.mjs";

const delta = (revision, previous, changed = [], removed = []) => ({ type: "delta", name: "entities", revision, previous, changed, removed });

test("deltas by chance give the server's table; a lost one is seen, and a resync mends it", () => {
  for (let seed = 1; seed <= 80; seed++) {
    const random = chance(seed);
    const server = new Map();
    const table = new Table(1000);
    let revision = 1;
    table.apply(delta(revision, 0));
    for (let step = 0; step < 60; step++) {
      const id = Math.floor(random() * 12);
      const gone = random() < 0.3;
      if (gone) server.delete(id);
      else server.set(id, { id, value: step });
      const message = delta(revision + 1, revision, gone ? [] : [server.get(id)], gone ? [id] : []);
      revision++;
      if (random() < 0.15) continue; // lost on the way
      if (!table.apply(message)) table.apply(delta(revision, 0, [...server.values()]));
      assert.deepEqual(new Map([...table.rows].sort()), new Map([...server].sort()));
    }
  }
});

test("a delta that came before is no gap", () => {
  const table = new Table(10);
  table.apply(delta(4, 0, [{ id: 1 }]));
  assert.equal(table.apply(delta(3, 2, [], [1])), true);
  assert.equal(table.rows.size, 1);
});

test("a server that began anew replaces all", () => {
  const table = new Table(10);
  table.apply(delta(900, 0, [{ id: 1 }]));
  assert.equal(table.apply(delta(1, 0, [{ id: 2 }])), true);
  assert.deepEqual([...table.rows.keys()], [2]);
});

test("the oldest rows go where there are too many", () => {
  const table = new Table(100);
  table.apply(delta(1, 0));
  for (let id = 1; id <= 1000; id++) table.apply(delta(id + 1, id, [{ id }]));
  assert.equal(table.rows.size, 100);
  assert.ok(table.rows.has(1000) && !table.rows.has(900));
});

test("a whole world of 30,000 things is held, and one of 100,000 is bounded", () => {
  const store = new Store(() => undefined);
  const things = (count) => Array.from({ length: count }, (_, id) => ({ id }));
  store.applyDelta(delta(1, 0, things(30_000)));
  assert.equal(store.rows("entities").size, 30_000);
  store.applyDelta(delta(2, 0, things(100_000)));
  assert.equal(store.rows("entities").size, MOST_ROWS.entities);
});

test("listeners are told once per round, and of their own topics alone", () => {
  const flushes = [];
  const store = new Store((flush) => flushes.push(flush));
  let told = 0;
  const end = store.subscribe(["robot", "entities"], () => told++);
  store.setPart({ type: "part", name: "robot", revision: 1, value: { held: true } });
  store.applyDelta(delta(1, 0, [{ id: 1 }]));
  store.setPart({ type: "part", name: "path", revision: 1, value: { driven: [], planned: [] } });
  assert.equal(flushes.length, 1);
  flushes.pop()();
  assert.equal(told, 1);
  assert.equal(store.part("robot").held, true);
  store.setPart({ type: "part", name: "path", revision: 2, value: { driven: [], planned: [] } });
  flushes.pop()();
  assert.equal(told, 1);
  end();
  store.setPart({ type: "part", name: "robot", revision: 2, value: {} });
  flushes.pop()();
  assert.equal(told, 1);
});

test("a name that this page does not know is left alone", () => {
  const store = new Store(() => undefined);
  assert.equal(store.applyDelta({ ...delta(7, 3), name: "ghosts" }), true);
});
