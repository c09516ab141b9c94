import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { StopLink, stopText, holdersText } from "../src/stop";
import { chance } from "./chance.mjs";

const sockets = [];
let posts = [];

class FakeSocket {
  static OPEN = 1;
  readyState = 0;
  sent = [];
  constructor() {
    sockets.push(this);
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  tell(stop, press, rest = {}) {
    this.onmessage?.({ data: JSON.stringify({ stop, press, at: 10, text: "", ...rest }) });
  }
  close() {
    this.readyState = 3;
  }
}

beforeEach(() => {
  sockets.length = 0;
  posts = [];
  mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
  globalThis.location = { protocol: "http:", host: "robot" };
  globalThis.document = { hidden: false, addEventListener: () => undefined };
  globalThis.WebSocket = FakeSocket;
  globalThis.fetch = (_, { signal }) => new Promise((answer) => posts.push({ signal, tell: (told) => answer({ ok: true, json: async () => told }) }));
});
afterEach(() => mock.timers.reset());

const settled = () => new Promise((done) => setImmediate(done));

function started() {
  const link = new StopLink();
  link.start();
  sockets[0].open();
  return link;
}

const robot = (rest = {}) => ({ held: true, stands: true, stamp: 5, gate_age: 1, ...rest });

test("after Resume a late word of the press before it is nothing, and its other connections are closed", () => {
  const link = started();
  link.press();
  const { press } = sockets[0].sent.at(-1);
  mock.timers.tick(700);
  assert.ok(sockets.length >= 3 && posts.length >= 2);
  sockets[0].tell("held", press);
  link.release();
  assert.ok(sockets.slice(1).every((one) => one.readyState === 3) && posts.every((one) => one.signal.aborted));
  sockets[0].tell("stands", press);
  assert.equal(link.state.phase, "ready");
  assert.equal(stopText(link.state, robot({ held: false, stands: false }), false), "");
});

test("somebody else's Resume ends what is said of the press", () => {
  const link = started();
  link.press();
  sockets[0].tell("held", 1);
  sockets[0].tell("released", 1);
  sockets[0].tell("stands", 1);
  assert.equal(link.state.phase, "ready");
});

test("a reply to the press before ends no resending of this one", async () => {
  const link = started();
  link.press();
  mock.timers.tick(350);
  const [old, oldPost] = [sockets.at(-1), posts[0]];
  link.press();
  sockets[0].tell("held", 1);
  old.tell("stands", 1);
  oldPost.tell({ stop: "held", press: 0, at: 10, text: "" });
  await settled();
  assert.equal(link.state.phase, "sending");
  const before = sockets.length;
  mock.timers.tick(350);
  assert.ok(sockets.length > before);
});

test("a socket that dies after its first word: STOP goes on until the gate has answered", async () => {
  const link = started();
  link.press();
  sockets[0].tell("sent", 1);
  mock.timers.tick(350);
  assert.equal(posts.length, 1);
  posts[0].tell({ stop: "refused", press: 0, at: 10, text: "No answer: use the hardware stop." });
  await settled();
  assert.deepEqual([link.state.phase, link.state.text], ["refused", "No answer: use the hardware stop."]);
  mock.timers.tick(5_000);
  assert.equal(posts.length, 1);
  sockets[0].tell("held", 1);
  assert.deepEqual([link.state.phase, link.state.text], ["held", ""]);
});

test("nothing answers: it says so, also where the first word had come", () => {
  const said = performance.now;
  let now = said.call(performance);
  performance.now = () => now;
  try {
    const link = started();
    link.press();
    sockets[0].tell("sent", 1);
    now += 1_500;
    mock.timers.tick(300);
    assert.match(link.state.text, /No word of the robot for 1\.5 s.*own stop/);
  } finally {
    performance.now = said;
  }
});

test("in any order of words, what is shown is of the last press and never goes back", () => {
  const words = ["sent", "held", "stands", "refused", "ready", "released"];
  const rank = ["ready", "sending", "sent", "refused", "held", "stands"];
  for (let seed = 1; seed <= 200; seed++) {
    const random = chance(seed);
    const link = started();
    let [presses, current] = [0, 0];
    for (let step = 0; step < 40; step++) {
      const before = link.state.phase;
      const what = random();
      if (what < 0.1) link.press(), (current = ++presses);
      else if (what < 0.15) link.release(), (current = 0);
      else {
        const press = Math.floor(random() * (presses + 1));
        const word = words[Math.floor(random() * words.length)];
        sockets.at(-1).tell(word, press);
        const [to, from] = [rank.indexOf(link.state.phase), rank.indexOf(before)];
        if (press !== current || press === 0) assert.equal(link.state.phase, before);
        else if (word === "released") assert.equal(link.state.phase, "ready"), (current = 0);
        else assert.ok(to >= from);
      }
    }
    sockets.length = 0;
  }
});

test("that it stands is said by what was measured after the press, and the gate by its age", () => {
  const held = { phase: "held", connected: true, after: 0.2, at: 10, text: "" };
  assert.match(stopText(held, robot({ stamp: 9.9 }), false), /not yet standing/);
  assert.match(stopText(held, robot({ stamp: 10.5 }), true), /not yet standing/);
  assert.equal(stopText(held, robot({ stamp: 10.5 }), false), "Stop taken: it stands");
  const stands = { ...held, phase: "stands" };
  assert.equal(stopText(stands, robot({ stamp: 9, stands: false }), false), "Stands after 200 ms");
  assert.match(stopText(stands, robot({ stamp: 11, stands: false }), false), /moves again/);
  const ready = { ...held, phase: "ready" };
  for (const gate_age of [10, null, undefined]) assert.match(stopText(ready, robot({ gate_age }), false), /No word of the motion gate/);
  assert.equal(stopText(ready, robot(), false), "Stopped: it stands");
});

test("who holds or pauses is named, and since when", () => {
  const since = 1.8e9;
  const holds = [{ number: 5, kind: "hold", who: "Ada", why: "", since }, { number: 6, kind: "pause", who: "Bob", why: "", since }];
  assert.match(holdersText(robot({ holds })), /^Held by Ada since \d\d:\d\d:\d\d, Paused by Bob since /);
  for (const one of [undefined, robot(), robot({ holds: [] })]) assert.equal(holdersText(one), "");
});
