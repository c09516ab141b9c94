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

/** State of the robot. pose: x, y, z, yaw in map; None = not known. speed: m/s; turn_rate: rad/s; held: STOP is latched; stands: it is measured to stand still; footprint: corners of its body in the robot's frame; heartbeat_age, gate_age: s since the goal selector and the motion gate were heard, None = never. */
export interface Robot {
  pose: [number, number, number, number] | null;
  speed: number | null;
  turn_rate: number | null;
  battery: Battery | null;
  state: string;
  held: boolean;
  motion_allowed: boolean;
  epoch: number;
  stands: boolean;
  footprint: [number, number][];
  stamp: number;
  heartbeat_age: number | null;
  gate_age: number | null;
}

/** One sentence of progress. */
export interface Progress {
  at: number;
  text: string;
}

/** End of a directive; code 0 is success, others are those of follow_directive. */
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

/** The directive that runs, or the last one. remaining, travelled: m. by: who sent it; "" = another client. number: of those that came by this console since it began, 0 = another client's. */
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

/** The way driven, oldest first, and the way that is planned. */
export interface Path {
  driven: [number, number][];
  planned: [number, number][];
}

/** An edge of the known floor. gain: m2 expected to be seen anew; size: m; reason: why it cannot be reached. */
export interface Frontier {
  id: number;
  x: number;
  y: number;
  gain: number;
  size: number;
  reason: string;
}

/** A room. weight: how sure its name is, [0, 1]; named: by a person; contents: labels of things in it. */
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

/** An area to keep out of (an outline), or a closed way (two points). expires: stamp, None = until it is opened. laid: an operator laid it, and can take it away again (`zone`); others come of directives and of the fence. */
export interface Zone {
  id: string;
  kind: "closed_way" | "keep_out";
  outline: [number, number][];
  text: string;
  expires: number | null;
  laid: boolean;
}

/** Words that the detector can name now. unseen: words that it cannot name, though asked for. by: the detector. */
export interface Vocabulary {
  words: string[];
  unseen: string[];
  by: string;
  is_open: boolean;
  problem: string;
}

/** One finding of the doctor. do: what helps. */
export interface Finding {
  level: "error" | "ok" | "warning";
  text: string;
  do: string;
}

/** One node. pss: bytes; rate: Hz of its fastest input; age: s since its newest one; status: in its words. */
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

/** A node that the console waits for, or has heard. */
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

/** Somebody whose page is open, or an agent with a token. */
export interface Operator {
  name: string;
  role: "command" | "look" | "stop";
  since: number;
  agent: boolean;
}

/** Everybody who is there. agents: names of agents that have a token; offered: those that may take the lease. */
export interface Operators {
  people: Operator[];
  agents: string[];
  offered: string[];
}

/** The commanding session, and until when unless it is renewed; any request of the holder renews it. */
export interface Lease {
  holder: string;
  until: number;
  agent: boolean;
}

/** The lease, None = nobody commands. */
export interface LeaseState {
  lease: Lease | null;
}

/** Revision of the raster of looks, which comes on /ws/view. */
export interface Looks {
  revision: number;
}

/** One change, in a sentence with its probability; the place is that of now, or of before where it is gone. */
export interface Change {
  kind: "gone" | "moved" | "new" | "renamed";
  text: string;
  x: number | null;
  y: number | null;
  entities: number[];
}

/** Changes against the map that was loaded. against: which that is, "" = none was loaded. */
export interface Changes {
  against: string;
  changes: Change[];
}

/** Value of each part by its name. */
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

/** A thing of the scene. box: its two corners; confidence: in its presence, [0, 1]; stated: by people. */
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

/** One expert at a decision. value: expected reward; bound: its upper confidence bound; reason: why not, or why. */
export interface Arm {
  name: string;
  admissible: boolean;
  value: number | null;
  bound: number | null;
  reason: string;
  propensity: number | null;
  goal: [number, number, number] | null;
}

/** One belief or expectation of a trace, in words. */
export interface Check {
  kind: "believed" | "evidence" | "expected" | "otherwise";
  text: string;
}

/** Reasoning of an action in words. */
export interface DecisionTrace {
  text: string;
  checks: Check[];
}

/** Difference from what was expected, its cause, and what was done about it. */
export interface Failure {
  text: string;
  diagnosis: string;
  recovery: string;
}

/** One decision. why: the account that `lodestar_ros.why` gives, by lines; outcome: "pending" until it is known. */
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

/** One entry of the journal: what is believed since, by whom, and whether it was taken back. */
export interface BeliefChange {
  id: string;
  entry: number;
  at: number;
  text: string;
  by: string;
  entities: number[];
  undone: boolean;
}

/** Something on the timeline. pose: of the robot then; decision: id; text: for a person, untrusted. */
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

/** One remembered thing; text is untrusted. session: of its keyframes, for their addresses. */
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

/** Items of each delta by its name. */
export interface DeltaItems {
  entities: Entity;
  decisions: Decision;
  beliefs: BeliefChange;
  events: Event;
  memories: MemoryItem;
}

/** A place that an answer points to, in map. */
export interface Place {
  x: number;
  y: number;
  z: number;
  text: string;
}

/** Proof that an answer rests on. text is untrusted. session: of a keyframe, for its address. x, y: where, in map. */
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

/** Answer to a question: value of the reply to `ask`. directive: what would find out, "" = nothing would. */
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

/** Meaning of a directive: value of the reply to a dry run. problem: why it could not be begun. */
export interface MeaningValue {
  understood: string;
  steps: string[];
  constraints: string[];
  problem: string;
}

/** Thing that was pointed at: value of the reply to `point_out`. */
export interface PointedValue {
  entity: number;
  question: string;
  choice: number;
  correction: string;
}

/** Memories that fit: value of the reply to `memory_search`. count: of what `memory_forget` would forget. */
export interface FoundValue {
  memories: MemoryItem[];
  count: number;
}

/** Sentences on a thing, a decision or a room: value of the reply to `details`. */
export interface DetailsValue {
  title: string;
  lines: string[];
  keyframes: number[];
}

/** Knowledge at a time: value of the reply to `at`. */
export interface AtValue {
  at: number;
  decision: Decision | null;
  events: Event[];
  pose: [number, number, number] | null;
  keyframe: number;
  grid_revision: number;
}

/** First message: who one is here. server_time: of the robot's clock. */
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

/** A small part, whole. value: `PartValues` of the name. */
export interface Part {
  type: "part";
  name: "changes" | "directive" | "frontiers" | "health" | "lease" | "looks" | "operators" | "path" | "robot" | "rooms" | "vocabulary" | "zones";
  revision: number;
  value: unknown;
}

/** Changes of a part that grows. previous: the revision that they apply to, 0 = all of it follows. changed: `DeltaItems` of the name. A page that finds another revision than `previous` sends `resync`. */
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

/** Answer to a request. code: short name of a refusal, "" where it is ok. value: by the request, or null. */
export interface Reply {
  type: "reply";
  id: number;
  ok: boolean;
  code: string;
  text: string;
  value: unknown;
}

/** STOP, which any session may send; false asks only whether this socket still reaches the console. press: number of the press, which its replies carry. */
export interface StopRequest {
  stop: boolean;
  press?: number;
}

/** sent: it is on its way; refused: nothing answered, see text; held: it is latched; stands: measured at `at`. released: somebody has resumed the robot since; ready: answer to a request without STOP. press: that it answers. */
export interface StopReply {
  stop: "held" | "ready" | "refused" | "released" | "sent" | "stands";
  at: number;
  text: string;
  press: number;
}

/** Wishes of a page of what to see now; a hidden page wants nothing. hz: camera frames a second at most. memories: the table of the newest ones, which comes on /ws/state. */
export interface Wanted {
  cloud: boolean;
  grid: boolean;
  camera: boolean;
  looks: boolean;
  memories: boolean;
  hz: number;
}

/** Message of a page on /ws/view. */
export interface WantRequest {
  want: Wanted;
}

/** A detection with its outline in pixels. entity: id, 0 = none yet. */
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

/** Ask for the whole of a part that grows, after a gap. */
export interface Resync {
  type: "resync";
  name: "beliefs" | "decisions" | "entities" | "events" | "memories";
  id: number;
}

/** Send a directive. picture: id of an uploaded picture of the target. dry_run: only say what is understood. */
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

/** Cancel the directive that runs. */
export interface Cancel {
  type: "cancel";
  id: number;
}

/** Release the latched STOP. */
export interface Resume {
  type: "resume";
  id: number;
}

/** Take the lease (from an agent too), renew it or give it back. */
export interface ChangeLease {
  type: "lease";
  action: "release" | "take";
  id: number;
}

/** Let an agent take the lease while nobody has it, or no longer. */
export interface OfferLease {
  type: "offer";
  agent: string;
  offered?: boolean;
  id: number;
}

/** Ask the memory; it never moves the robot. picture: what "this" is. */
export interface AskMemory {
  type: "ask";
  text: string;
  picture?: string | null;
  id: number;
}

/** Call a room by a name; "" takes the name back. room 0: the one at x, y. */
export interface NameRoom {
  type: "name_room";
  room: number;
  name: string;
  x?: number;
  y?: number;
  id: number;
}

/** Point at a place on the map. */
export interface PointOut {
  type: "point_out";
  x: number;
  y: number;
  z?: number;
  id: number;
}

/** Close the way between two points, or open it again. minutes: how long, 0 = until it is opened. */
export interface CloseWay {
  type: "close_way";
  start: [number, number];
  end: [number, number];
  minutes?: number;
  open?: boolean;
  id: number;
}

/** Keep the robot out of an area, or no longer. text: a name for it; minutes: how long, 0 = until it is removed. */
export interface LayZone {
  type: "zone";
  outline: [number, number][];
  text?: string;
  minutes?: number;
  remove?: boolean;
  id: number;
}

/** Mend a belief in plain words ("it is gone", "that is a stool") about a thing; 0 = the one that is faced. */
export interface Correct {
  type: "correct";
  text: string;
  entity?: number;
  id: number;
}

/** Take an entry of the journal back. */
export interface Undo {
  type: "undo";
  entry: number;
  id: number;
}

/** Search the memory by words. */
export interface SearchMemory {
  type: "memory_search";
  text: string;
  id: number;
}

/** Keep a memory for good, or no longer. */
export interface PinMemory {
  type: "memory_pin";
  memory: string;
  pinned?: boolean;
  id: number;
}

/** Replace a memory by other words; the old ones stay as history. */
export interface CorrectMemory {
  type: "memory_correct";
  memory: string;
  text: string;
  id: number;
}

/** Forget memories for good. expected: how many that are; 0 = say how many and forget nothing. */
export interface ForgetMemory {
  type: "memory_forget";
  memories?: string[];
  text?: string;
  expected?: number;
  id: number;
}

/** Ask what is known of a thing. */
export interface Details {
  type: "details";
  kind: "decision" | "entity" | "memory" | "room";
  of: string;
  id: number;
}

/** Ask what was known at a time. */
export interface At {
  type: "at";
  time: number;
  id: number;
}

export type ServerMessage = Hello | Part | Delta | Pong | Reply;

export type PageMessage = Ping | Resync | SendDirective | AnswerRobot | Cancel | Resume | ChangeLease | OfferLease | AskMemory | NameRoom | PointOut | CloseWay | LayZone | Correct | Undo | SearchMemory | PinMemory | CorrectMemory | ForgetMemory | Details | At;
