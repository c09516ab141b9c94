import assert from "node:assert/strict";
import { test } from "node:test";
import { Talk } from "../src/parts/talk";

const DRY = { ok: true, text: "", code: "" };
const meaning = (understood, rest = null) => ({ understood, steps: [], problem: "", stops: rest !== null, rest: rest ?? "" });
const settle = () => new Promise((done) => setImmediate(done));

/** A talk, the requests that it makes, and their replies by text; a reply that is a function is called. */
function talking(meanings, refused = []) {
  const asked = [];
  const request = async (type, { text, dry_run = false }) => {
    asked.push(`${type}${dry_run ? "?" : ""} ${text}`);
    if (type === "ask") return await meanings[text];
    if (dry_run) return { ...DRY, value: meanings[text] };
    return refused.includes(text) ? { ...DRY, ok: false, text: "No." } : { ...DRY, text: "Begun." };
  };
  const talk = new Talk({ link: { request, now: () => 0 }, ui: { set: () => undefined } });
  return { talk, asked };
}

test("what follows a stop is read back, and nothing but the stop is sent", async () => {
  const { talk, asked } = talking({ "stop, go to the kitchen": meaning("Stop at once.", "go to the kitchen"), "go to the kitchen": meaning("Go to the kitchen.") });
  await talk.say("stop, go to the kitchen", null);
  assert.deepEqual(asked, ["directive? stop, go to the kitchen", "directive stop", "directive? go to the kitchen"]);
  assert.deepEqual(talk.turns.map(({ kind, settled }) => [kind, settled]), [["said", undefined], ["understood", "begun"], ["understood", ""]]);
  await talk.begin(talk.turns.at(-1));
  assert.equal(asked.at(-1), "directive go to the kitchen");
});

test("a stop alone is sent at once", async () => {
  const { talk, asked } = talking({ "oh stop": meaning("Stop at once.", "") });
  await talk.say("oh stop", null);
  assert.deepEqual(asked, ["directive? oh stop", "directive stop"]);
});

test("a rest that stops again waits to be confirmed", async () => {
  const { talk, asked } = talking({ "stop and stand": meaning("Stop at once.", "stand"), stand: meaning("Stop at once.", "stand") });
  await talk.say("stop and stand", null);
  assert.deepEqual(asked, ["directive? stop and stand", "directive stop", "directive? stand"]);
  assert.equal(talk.turns.at(-1).settled, "");
});

test("nothing is read on after a stop that was refused", async () => {
  const { talk, asked } = talking({ "stop, go": meaning("Stop at once.", "go") }, ["stop"]);
  await talk.say("stop, go", null);
  assert.equal(asked.at(-1), "directive stop");
  assert.equal(talk.turns.at(-1).kind, "refused");
});

test("a stop is sent while the memory is asked, and what is still awaited stays shown", async () => {
  let answer;
  const { talk, asked } = talking({ "where is the mug?": new Promise((done) => (answer = done)), stop: meaning("Stop at once.", "") });
  const asking = talk.say("where is the mug?", null);
  await talk.say("stop", null);
  assert.equal(asked.at(-1), "directive stop");
  assert.equal(talk.waiting, "Asking the memory");
  answer({ ...DRY, text: "In the kitchen.", value: null });
  await asking;
  await settle();
  assert.equal(talk.waiting, "");
});
