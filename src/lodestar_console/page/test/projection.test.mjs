// The map from above: from metres to pixels and back, and what a new size does to it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FlatView } from "../src/map/projection.ts";
import { chance } from "./chance.mjs";

test("what is seen stays at its pixel when the map takes another size", () => {
  const random = chance(5);
  for (let turn = 0; turn < 200; turn++) {
    const view = new FlatView();
    view.resize(100 + 900 * random(), 100 + 900 * random());
    view.middle = [20 * random() - 10, 20 * random() - 10];
    view.scale = 2 + 398 * random();
    const pixel = [view.width * random(), view.height * random()];
    const place = view.floor(...pixel);
    for (let size = 0; size < 3; size++) view.resize(100 + 900 * random(), 100 + 900 * random());
    const now = [0, 0];
    assert.ok(view.project(...place, 0, now));
    assert.ok(Math.hypot(now[0] - pixel[0], now[1] - pixel[1]) < 1e-6);
  }
});
