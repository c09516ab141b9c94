import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_LABELS, overlap, placeLabels } from "../src/map/labels";
import { chance } from "./chance.mjs";

function wishes(random, count, width, height) {
  return Array.from({ length: count }, (_, index) => ({
    id: `entity:${index}`,
    x: random() * width * 1.2 - 0.1 * width,
    y: random() * height * 1.2 - 0.1 * height,
    width: 10 + Math.floor(random() * 150),
    height: 14,
    gap: 7,
    priority: Math.floor(random() * 5),
    centred: random() < 0.1,
  }));
}

test("no label lies over another, over what is taken, or outside, at any zoom", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = chance(seed);
    const [width, height] = [200 + random() * 1600, 150 + random() * 900];
    const wanted = wishes(random, 1 + Math.floor(random() * 400), width, height);
    const taken = [{ x: width / 2, y: height / 2, width: 30, height: 30 }];
    const { boxes } = placeLabels(wanted, width, height, taken);
    const placed = [...boxes.values()];
    for (const [index, box] of placed.entries()) {
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height);
      assert.ok(!overlap(box, taken[0]));
      for (const other of placed.slice(index + 1)) assert.ok(!overlap(box, other));
    }
  }
});

test("the most important label is placed wherever it fits on the screen", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = chance(seed);
    const wanted = wishes(random, 200, 800, 600);
    wanted[77] = { ...wanted[77], x: 400, y: 300, priority: 1000, centred: false };
    assert.ok(placeLabels(wanted, 800, 600).boxes.has("entity:77"));
  }
});

test("a required label is placed within the screen even among marks, and over no other label", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = chance(seed);
    const marks = Array.from({ length: 600 }, () => ({ x: random() * 780, y: random() * 580, width: 25, height: 25 }));
    const wanted = wishes(random, 60, 800, 600);
    const found = { ...wanted[7], id: "found", x: random() * 800, y: random() * 600, priority: 2000, centred: false, required: true };
    const { boxes } = placeLabels([...wanted, found], 800, 600, marks);
    const box = boxes.get("found");
    assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= 800 && box.y + box.height <= 600);
    for (const [id, other] of boxes) assert.ok(id === "found" || !overlap(box, other));
  }
});

test("a label that finds no room at all is the only reason to leave one out", () => {
  const random = chance(5);
  const wanted = wishes(random, 150, 700, 500).map((wish) => ({ ...wish, centred: false }));
  const { boxes } = placeLabels(wanted, 700, 500);
  const placed = [...boxes.values()];
  for (const wish of wanted.filter(({ id }) => !boxes.has(id))) {
    const right = { x: wish.x + wish.gap, y: wish.y - wish.height / 2, width: wish.width, height: wish.height };
    const outside = right.x < 0 || right.y < 0 || right.x + right.width > 700 || right.y + right.height > 500;
    assert.ok(outside || placed.some((box) => overlap(box, right)));
  }
});

test("a label stays on its side while it can", () => {
  const wish = { id: "a", x: 100, y: 100, width: 40, height: 14, gap: 7, priority: 1 };
  const blocker = { x: 105, y: 90, width: 60, height: 20 };
  const first = placeLabels([wish], 300, 300, [blocker]);
  assert.equal(first.sides.get("a"), 1);
  const second = placeLabels([wish], 300, 300, [], first.sides);
  assert.equal(second.sides.get("a"), 1);
  const third = placeLabels([wish], 300, 300, [{ x: 40, y: 90, width: 55, height: 20 }], second.sides);
  assert.equal(third.sides.get("a"), 0);
});

test("thirty thousand wishes are placed within bounds of number", () => {
  const random = chance(9);
  assert.ok(placeLabels(wishes(random, 30_000, 8000, 8000), 8000, 8000).boxes.size <= MOST_LABELS);
});
