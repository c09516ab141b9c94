import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, clock, duration, isQuestion, shorten } from "../src/format";
import { outlineFault, within } from "../src/geometry";
import { FlatView } from "../src/map/projection";
import { waitAfter } from "../src/socket";
import { ticks, toPixel, toTime, zoomed } from "../src/timescale";
import { chance } from "./chance.mjs";

test("time to pixel and back, and what is zoomed about stays", () => {
  const random = chance(3);
  for (let turn = 0; turn < 500; turn++) {
    const begin = random() * 2e9;
    const scale = { begin, end: begin + 1 + random() * 1e5, width: 50 + random() * 2000 };
    const pixel = random() * scale.width;
    assert.ok(Math.abs(toPixel(scale, toTime(scale, pixel)) - pixel) < 0.05);
    const near = zoomed(scale, 0.2 + random() * 5, pixel);
    assert.ok(Math.abs(toTime(near, pixel) - toTime(scale, pixel)) < 1e-3);
    assert.ok(near.end - near.begin >= 2);
  }
});

test("ticks are apart, within, and round", () => {
  const random = chance(4);
  for (let turn = 0; turn < 500; turn++) {
    const begin = random() * 1e6;
    const scale = { begin, end: begin + 2 + random() * 1e6, width: 200 + random() * 1800 };
    const found = ticks(scale);
    assert.ok(found.length <= scale.width / 90 + 1);
    found.slice(1).forEach((time, index) => assert.ok(toPixel(scale, time) - toPixel(scale, found[index]) >= 89.9));
    found.forEach((time) => assert.ok(time >= scale.begin && time <= scale.end));
  }
});

test("the flat map: floor and project agree, zoom keeps its place, fit shows all", () => {
  const random = chance(6);
  for (let turn = 0; turn < 300; turn++) {
    const view = new FlatView();
    Object.assign(view, { width: 300 + random() * 1000, height: 200 + random() * 800, scale: 3 + random() * 300, middle: [random() * 50, -random() * 50] });
    const [u, v] = [random() * view.width, random() * view.height];
    const place = view.floor(u, v);
    const at = [0, 0];
    view.project(...place, 0, at);
    assert.ok(Math.hypot(at[0] - u, at[1] - v) < 1e-6);
    view.zoom(0.3 + random() * 4, u, v);
    view.project(...place, 0, at);
    assert.ok(Math.hypot(at[0] - u, at[1] - v) < 1e-6);
    const box = [-random() * 40, -random() * 40, random() * 40, random() * 40];
    view.fit(box);
    for (const [x, y] of [[box[0], box[1]], [box[2], box[3]]]) {
      view.project(x, y, 0, at);
      assert.ok(at[0] >= 0 && at[0] <= view.width && at[1] >= 0 && at[1] <= view.height);
    }
  }
});

test("within a polygon", () => {
  const shape = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]];
  assert.equal(within([1, 1], shape), true);
  assert.equal(within([2, 3], shape), false);
  assert.equal(within([5, 1], shape), false);
  assert.equal(within([0, 0], []), false);
});

test("an outline that crosses itself or repeats a corner is not sent", () => {
  const square = [[0, 0], [4, 0], [4, 4], [0, 4]];
  for (const fine of [[], square.slice(0, 1), square.slice(0, 2), square.slice(0, 3), square, [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]], [[0, 0], [2, 0], [4, 0], [4, 4]]])
    assert.equal(outlineFault(fine), "", JSON.stringify(fine));
  assert.match(outlineFault([...square, ...square]), /one place/);
  assert.match(outlineFault([...square, square[3]]), /one place/);
  const star = [0, 2, 4, 1, 3].map((point) => [Math.sin((point * 2 * Math.PI) / 5), Math.cos((point * 2 * Math.PI) / 5)]);
  for (const crossed of [star, [[0, 0], [4, 4], [4, 0], [0, 4]], [[0, 0], [4, 0], [2, 0], [2, 3]], [[0, 0], [4, 0], [4, 4], [2, 0], [0, 4]]])
    assert.match(outlineFault(crossed), /crosses itself/, JSON.stringify(crossed));
  const random = chance(7);
  const places = Array.from({ length: 200 }, () => [random() * 4, random() * 4]);
  for (let turn = 0; turn < 400; turn++) {
    const shape = Array.from({ length: 3 + Math.floor(random() * 5) }, () => [random() * 4, random() * 4]);
    if (outlineFault(shape)) continue;
    for (const [x, y] of places) { // even-odd and non-zero agree: `within` against the turn of the angle
      const angles = shape.map(([cx, cy]) => Math.atan2(cy - y, cx - x));
      const turned = angles.reduce((sum, angle, index) => {
        const step = angles[(index + 1) % angles.length] - angle;
        return sum + step - 2 * Math.PI * Math.round(step / (2 * Math.PI));
      }, 0);
      assert.equal(within([x, y], shape), Math.abs(turned) > Math.PI, JSON.stringify([shape, x, y]));
    }
  }
});

test("times and lengths of time have units", () => {
  assert.equal(duration(0.042), "42 ms");
  assert.equal(duration(3.21), "3.2 s");
  assert.equal(duration(75), "1 min 15 s");
  assert.equal(duration(7260), "2 h 1 min");
  assert.equal(duration(3 * 86400), "3 days");
  assert.equal(ago(0.4), "now");
  assert.equal(ago(90), "1 min 30 s ago");
  assert.equal(clock(45.7), "0:45");
  assert.match(clock(1.8e9), /^\d\d:\d\d:\d\d$/);
  assert.equal(shorten("abcdef", 4), "abc…");
});

test("a question is told from a directive", () => {
  for (const text of ["where is the chair?", "Is the door open", "when did you last see a cup", "the red chair?"]) assert.ok(isQuestion(text), text);
  for (const text of ["find the red chair", "go to the kitchen and find a cup", "whisper", "island", "can you stop?", "could you please stop"]) assert.ok(!isQuestion(text), text);
});

test("attempts to connect come later and later, within bounds", () => {
  const waits = Array.from({ length: 12 }, (_, failures) => waitAfter(failures, 0.5));
  assert.equal(waits[0], 250);
  assert.ok(waits.every((wait, index) => index === 0 || wait >= waits[index - 1]));
  assert.equal(waits.at(-1), 5000);
  assert.ok(waitAfter(99, 1) <= 6250);
});
