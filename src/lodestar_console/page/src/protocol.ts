// Written by `python -m lodestar_console.typescript` from lodestar_console.protocol. Do not edit.

export const VERSION = 1;
export const MAX_DIRECTIVE = 2000;
export const MAX_MESSAGE = 32768;
export const MAX_PICTURE = 8388608;
export const CLOUD = 1;
export const GRID = 2;
export const CAMERA = 3;
export const LOOKS = 4;

export type Role = "look" | "stop" | "command";
export type PartName = "robot" | "directive" | "path" | "frontiers" | "rooms" | "zones" | "vocabulary" | "health" | "operators" | "lease" | "looks" | "changes";
export type DeltaName = "entities" | "decisions" | "beliefs" | "events" | "memories";

/** Charge of the battery. share: [0, 1]; volts: V. */
export interface Battery {
  share: number | null;
  volts: number | null;
}

/** A hold or pause of the robot in force. number: id used by `Resume`; since: s of the wall clock. */
export interface Hold {
  number: number;
  kind: "hold" | "pause";
  who: string;
  why: string;
  since: number;
}

/** State of the robot. pose: x, y, z, yaw in map; None = unknown. speed: m/s; turn_rate: rad/s; held: STOP is latched; holds: those in the newest message of motion_gate; stands: measured to stand still; footprint: corners of its body in its own frame; heartbeat_age, gate_age: s since the last message of goal selector and motion gate, None = never. */
export interface Robot {
  pose: [number, number, number, number] | null;
  speed: number | null;
  turn_rate: number | null;
  battery: Battery | null;
  state: string;
  held: boolean;
  holds: Hold[];
  motion_allowed: boolean;
  epoch: number;
  stands: boolean;
  footprint: [number, number][];
  stamp: number;
  heartbeat_age: number | null;
  gate_age: number | null;
}

/** One sentence on the progress of a directive. */
export interface Progress {
  at: number;
  text: string;
}

/** End of a directive; code: error code of follow_directive, 0 = success. */
export interface DirectiveResult {
  success: boolean;
  code: number;
  text: string;
  entities: number[];
}

/** A question of the robot; choices are counted from 1. */
export interface RobotQuestion {
  id: string;
  text: string;
  choices: string[];
}

/** The running or last directive. remaining, travelled: m. by: name of the sender; "" = another client. number: counts the directives sent by this console since its start, 0 = another client's. */
export interface Directive {
  text: string;
  understood: string;
  unseen: string;
  phase: string;
  expert: string;
  progress: Progress[];
  goal: [number, number, number] | null;
  remaining: number | null;
  travelled: number | null;
  running: boolean;
  result: DirectiveResult | null;
  question: RobotQuestion | null;
  by: string;
  number: number;
}

/** The driven path, oldest point first, and the planned path. */
export interface Path {
  driven: [number, number][];
  planned: [number, number][];
}

/** A frontier of the known floor. gain: expected new area, m2; size: m; reason: of being unreachable. */
export interface Frontier {
  id: number;
  x: number;
  y: number;
  gain: number;
  size: number;
  reason: string;
}

/** A room. weight: confidence in its name, [0, 1]; named: by a person; contents: labels of its objects. */
export interface Room {
  id: number;
  name: string;
  outline: [number, number][];
  x: number;
  y: number;
  weight: number;
  named: boolean;
  area: number;
  contents: string[];
  plates: string[];
}

/** An area to keep out of (an outline), or a closed way (two points). expires: stamp, None = until opened. laid: whether an operator drew it and can remove it (request `zone`); others come from directives and from the fence, the polygon that the robot must not leave. */
export interface Zone {
  id: string;
  kind: "closed_way" | "keep_out";
  outline: [number, number][];
  text: string;
  expires: number | null;
  laid: boolean;
}

/** The detector's current vocabulary. unseen: requested words that it does not know. by: name of the detector. */
export interface Vocabulary {
  words: string[];
  unseen: string[];
  by: string;
  is_open: boolean;
  problem: string;
}

/** One finding on the stack's health. do: remedy. */
export interface Finding {
  level: "error" | "ok" | "warning";
  text: string;
  do: string;
}

/** One node. pss: bytes; rate: Hz of its fastest input; age: s since its newest input; status: its message. */
export interface NodeHealth {
  name: string;
  alive: boolean;
  level: "error" | "ok" | "warning";
  status: string;
  pss: number | null;
  rate: number | null;
  age: number | null;
  restarts: number;
}

/** A node that is expected to run, or has published a status. */
export interface StackNode {
  name: string;
  state: "gone" | "there" | "waiting";
}

/** Health of the stack. cpu: share of all cores in use, [0, 1]. */
export interface Health {
  findings: Finding[];
  nodes: NodeHealth[];
  stack: StackNode[];
  cpu: number | null;
}

/** A connected operator or agent. since: start of the session, s of the wall clock. */
export interface Operator {
  name: string;
  role: "command" | "look" | "stop";
  since: number;
  agent: boolean;
}

/** Connected people and agents. agents: names of agents with a token; offered: agents allowed to take the lease. */
export interface Operators {
  people: Operator[];
  agents: string[];
  offered: string[];
}

/** The lease: name of its holder, and stamp of its expiry; commands of the holder renew it. */
export interface Lease {
  holder: string;
  until: number;
  agent: boolean;
}

/** The current lease, None = no holder. */
export interface LeaseState {
  lease: Lease | null;
}

/** Revision of the raster of looks (floor cells seen by the camera), which is sent on /ws/view. */
export interface Looks {
  revision: number;
}

/** One change, as a sentence with its probability. x, y: current place, or the previous one if it is gone. */
export interface Change {
  kind: "gone" | "moved" | "new" | "renamed";
  text: string;
  x: number | null;
  y: number | null;
  entities: number[];
}

/** Changes against the loaded map. against: name of that map, "" = none loaded. */
export interface Changes {
  against: string;
  changes: Change[];
}

/** Type of the value of each small part, by the part's name. */
export interface PartValues {
  robot: Robot;
  directive: Directive;
  path: Path;
  frontiers: Frontier[];
  rooms: Room[];
  zones: Zone[];
  vocabulary: Vocabulary;
  health: Health;
  operators: Operators;
  lease: LeaseState;
  looks: Looks;
  changes: Changes;
}

/** An object of the scene. box: lowest and highest corner; confidence: of presence, [0, 1]; stated: by people. */
export interface Entity {
  id: number;
  label: string;
  caption: string;
  attributes: string[];
  mean: [number, number, number];
  box: [[number, number, number], [number, number, number]];
  confidence: number;
  state: "active" | "archived" | "uncertain";
  room: number;
  first_seen: number;
  last_seen: number;
  keyframes: number[];
  stated: string[];
  relations: string[];
  moves: boolean;
}

/** One expert, an arm of the bandit, at a decision. value: expected reward; bound: upper confidence bound. reason: the rationale of its proposal, or the reason why it is inadmissible. */
export interface Arm {
  name: string;
  admissible: boolean;
  value: number | null;
  bound: number | null;
  reason: string;
  propensity: number | null;
  goal: [number, number, number] | null;
}

/** One statement of a reasoning trace, in words: a belief, an expectation, a fallback or evidence. */
export interface Check {
  kind: "believed" | "evidence" | "expected" | "otherwise";
  text: string;
}

/** The reasoning behind an action, in words. */
export interface DecisionTrace {
  text: string;
  checks: Check[];
}

/** A failure: the deviation from the expectation, its diagnosed cause, and the recovery. */
export interface Failure {
  text: string;
  diagnosis: string;
  recovery: string;
}

/** One decision. why: explanation of `lodestar_ros.why`, by lines; outcome: "pending" until known. */
export interface Decision {
  id: string;
  epoch: number;
  at: number;
  directive: string;
  chosen: string;
  explanation: string;
  arms: Arm[];
  reward: number | null;
  outcome: string;
  entities: number[];
  keyframes: number[];
  trace: DecisionTrace | null;
  failure: Failure | null;
  why: string[];
}

/** One entry of the belief journal: new belief, author, and whether the entry was undone. */
export interface BeliefChange {
  id: string;
  entry: number;
  at: number;
  text: string;
  by: string;
  entities: number[];
  undone: boolean;
}

/** An event of the timeline. pose: x, y, yaw of the robot then; decision: id; text: human-readable, untrusted. */
export interface Event {
  id: string;
  at: number;
  kind: string;
  text: string;
  pose: [number, number, number] | null;
  keyframe: number;
  entities: number[];
  decision: string;
}

/** One memory; its text is untrusted. session: id of its keyframes' session, part of their URLs. */
export interface MemoryItem {
  id: string;
  at: number;
  text: string;
  x: number | null;
  y: number | null;
  pinned: boolean;
  session: string;
  keyframes: number[];
  entities: number[];
}

/** Type of the items of each growing part, by the part's name. */
export interface DeltaItems {
  entities: Entity;
  decisions: Decision;
  beliefs: BeliefChange;
  events: Event;
  memories: MemoryItem;
}

/** A place that an answer refers to, in map, metres. */
export interface Place {
  x: number;
  y: number;
  z: number;
  text: string;
}

/** Evidence of an answer; its text is untrusted. session: id of the keyframe's session, part of its URL. x, y: place in map, metres. */
export interface Proof {
  kind: "entity" | "keyframe" | "memory" | "room";
  id: string;
  text: string;
  at: number;
  keyframe: number;
  session: string;
  score: number;
  x: number | null;
  y: number | null;
}

/** Answer to a question: value of the reply to `ask`. directive: text of a directive with which the robot would find the answer, "" = none. */
export interface AnswerValue {
  text: string;
  confidence: number;
  places: Place[];
  proofs: Proof[];
  entities: number[];
  coverage: number | null;
  directive: string;
  last_verified: number;
}

/** Meaning of a directive: value of the reply to a dry run. problem: reason why it cannot start. stops: whether the text orders an immediate stop. rest: text after this order, interpreted separately, "" = none. */
export interface MeaningValue {
  understood: string;
  steps: string[];
  problem: string;
  stops: boolean;
  rest: string;
}

/** Meaning of a click on the map: value of the reply to `point_out`. It names the object there, the question that the click answers, or the correction that it makes. */
export interface PointedValue {
  entity: number;
  question: string;
  choice: number;
  correction: string;
}

/** Matching memories: reply value of `memory_search` and `memory_forget`. count: number of all matches. */
export interface FoundValue {
  memories: MemoryItem[];
  count: number;
}

/** Description of an object, decision or room: value of the reply to `details`. */
export interface DetailsValue {
  title: string;
  lines: string[];
  keyframes: number[];
}

/** State at a past time: value of the reply to `at`. */
export interface AtValue {
  at: number;
  decision: Decision | null;
  events: Event[];
  pose: [number, number, number] | null;
  keyframe: number;
  grid_revision: number;
}

/** First message: the page's session, name and role. server_time: s of the robot's clock. */
export interface Hello {
  type: "hello";
  session: string;
  name: string;
  role: "command" | "look" | "stop";
  robot: string;
  server_time: number;
  lease: Lease | null;
  protocol: number;
  max_directive: number;
}

/** A part of the page that is sent as a whole. value: of the type that `PartValues` gives for the name. */
export interface Part {
  type: "part";
  name: "changes" | "directive" | "frontiers" | "health" | "lease" | "looks" | "operators" | "path" | "robot" | "rooms" | "vocabulary" | "zones";
  revision: number;
  value: unknown;
}

/** Changes of a growing part, a table of items. changed: of the type that `DeltaItems` gives for the name. previous: revision that the changes apply to; 0 = all items are contained. A page at another revision sends `resync`. */
export interface Delta {
  type: "delta";
  name: "beliefs" | "decisions" | "entities" | "events" | "memories";
  revision: number;
  previous: number;
  changed: unknown;
  removed: (number | string)[];
}

/** Answer to a ping. */
export interface Pong {
  type: "pong";
  id: number;
  server_time: number;
}

/** Answer to a request. code: short name of a refusal, "" = ok. value: depends on the request, or null. */
export interface Reply {
  type: "reply";
  id: number;
  ok: boolean;
  code: string;
  text: string;
  value: unknown;
}

/** STOP request, which any session may send; stop = false only tests the connection. press: number of the press, repeated in its replies. */
export interface StopRequest {
  stop: boolean;
  press?: number;
}

/** Progress of a STOP at time `at`. sent: on its way; refused: no answer, see text; held: latched; stands: standing. released: the robot was resumed; ready: answer to a connection test. press: number of the answered press. */
export interface StopReply {
  stop: "held" | "ready" | "refused" | "released" | "sent" | "stands";
  at: number;
  text: string;
  press: number;
}

/** Streams that a page wants now; a hidden page wants none. hz: largest rate of camera frames. memories: the newest memories, which are sent on /ws/state. */
export interface Wanted {
  cloud: boolean;
  grid: boolean;
  camera: boolean;
  looks: boolean;
  memories: boolean;
  hz: number;
}

/** Message of a page on /ws/view: the streams that it wants. */
export interface WantRequest {
  want: Wanted;
}

/** A detection with its outline in pixels. entity: id of its instance, 0 = none yet. */
export interface DetectedOutline {
  label: string;
  score: number;
  outline: [number, number][];
  entity: number;
}

/** Head of a camera frame; the JPEG has this size in pixels. pose: x, y, yaw of the robot. */
export interface CameraHead {
  width: number;
  height: number;
  stamp: number;
  detections: DetectedOutline[];
  pose: [number, number, number] | null;
}

/** Ask for a pong. */
export interface Ping {
  type: "ping";
  id: number;
}

/** Ask for all items of a growing part (a table sent as deltas), after a gap in its revisions. */
export interface Resync {
  type: "resync";
  name: "beliefs" | "decisions" | "entities" | "events" | "memories";
  id: number;
}

/** Send a directive. picture: id of an uploaded picture of the target. dry_run: only return the interpretation. */
export interface SendDirective {
  type: "directive";
  text: string;
  picture?: string | null;
  dry_run?: boolean;
  id: number;
}

/** Answer a question of the robot; choice is counted from 1. */
export interface AnswerRobot {
  type: "answer";
  question: string;
  choice: number;
  id: number;
}

/** Cancel the running directive. */
export interface Cancel {
  type: "cancel";
  id: number;
}

/** Release holds and pauses. numbers: those shown on the page, at least one; later holds stay. */
export interface Resume {
  type: "resume";
  numbers?: number[];
  id: number;
}

/** Take, renew or release the lease; an operator may take it from an agent. */
export interface ChangeLease {
  type: "lease";
  action: "release" | "take";
  id: number;
}

/** Allow or forbid an agent to take the lease while it is free. */
export interface OfferLease {
  type: "offer";
  agent: string;
  offered?: boolean;
  id: number;
}

/** Ask the memory a question; never moves the robot. picture: id of an uploaded picture that "this" refers to. */
export interface AskMemory {
  type: "ask";
  text: string;
  picture?: string | null;
  id: number;
}

/** Name a room; "" removes the name. room: id, 0 = the room at x, y. */
export interface NameRoom {
  type: "name_room";
  room: number;
  name: string;
  x?: number;
  y?: number;
  id: number;
}

/** Point at a place on the map, to direct the search there, answer a question or correct the robot. */
export interface PointOut {
  type: "point_out";
  x: number;
  y: number;
  z?: number;
  id: number;
}

/** Close the passage between two points, or open it again. minutes: duration, 0 = until opened. */
export interface CloseWay {
  type: "close_way";
  start: [number, number];
  end: [number, number];
  minutes?: number;
  open?: boolean;
  id: number;
}

/** Add or remove a keep-out area. text: its name; minutes: duration, 0 = until removed. */
export interface LayZone {
  type: "zone";
  outline: [number, number][];
  text?: string;
  minutes?: number;
  remove?: boolean;
  id: number;
}

/** Correct a belief in plain words ("it is gone", "that is a stool"). entity: id, 0 = object faced by the robot. */
export interface Correct {
  type: "correct";
  text: string;
  entity?: number;
  id: number;
}

/** Undo an entry of the belief journal. */
export interface Undo {
  type: "undo";
  entry: number;
  id: number;
}

/** Search the memories for words. */
export interface SearchMemory {
  type: "memory_search";
  text: string;
  id: number;
}

/** Pin a memory, so that it is never dropped, or unpin it. */
export interface PinMemory {
  type: "memory_pin";
  memory: string;
  pinned?: boolean;
  id: number;
}

/** Replace the text of a memory; the old text stays in its history. */
export interface CorrectMemory {
  type: "memory_correct";
  memory: string;
  text: string;
  id: number;
}

/** Delete memories for good. expected: their number, as a check; 0 = only count them. */
export interface ForgetMemory {
  type: "memory_forget";
  memories?: string[];
  text?: string;
  expected?: number;
  id: number;
}

/** Ask for the details of an object, decision or room with id `of`. */
export interface Details {
  type: "details";
  kind: "decision" | "entity" | "room";
  of: string;
  id: number;
}

/** Ask for the state at a past time (stamp). */
export interface At {
  type: "at";
  time: number;
  id: number;
}

export type ServerMessage = Hello | Part | Delta | Pong | Reply;

export type PageMessage = Ping | Resync | SendDirective | AnswerRobot | Cancel | Resume | ChangeLease | OfferLease | AskMemory | NameRoom | PointOut | CloseWay | LayZone | Correct | Undo | SearchMemory | PinMemory | CorrectMemory | ForgetMemory | Details | At;
