// Numbers with their units, and times, as the page writes them.

const DEGREES = 180 / Math.PI;

export function metres(value: number): string {
  return `${value.toFixed(Math.abs(value) < 10 ? 2 : 1)} m`;
}

export function speed(value: number): string {
  return `${Math.abs(value).toFixed(2)} m/s`;
}

export function degrees(radians: number): string {
  return `${Math.round(radians * DEGREES)}°`;
}

export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

export function place(x: number, y: number): string {
  return `x ${metres(x)}, y ${metres(y)}`;
}

/** A length of time with the two largest units that matter. */
export function duration(seconds: number): string {
  if (seconds < 0.9995) return `${Math.max(0, Math.round(1000 * seconds))} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 2880) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.round(minutes / 1440)} days`;
}

export function ago(seconds: number): string {
  return seconds < 1.5 ? "now" : `${duration(seconds)} ago`;
}

const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");

/** A stamp of the robot's clock: the local time of day, or minutes and seconds of a simulation that begins at 0. */
export function clock(stamp: number): string {
  if (stamp < 1e8) return `${Math.floor(Math.max(0, stamp) / 60)}:${two(Math.max(0, stamp) % 60)}`;
  const date = new Date(1000 * stamp);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function mebibytes(value: number): string {
  return `${Math.round(value)} MiB`;
}

/** `text` in at most `most` characters, with a sign that it was cut. */
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;
}

/** A name of the robot's, such as WAITING_FOR_SENSORS, as words. */
export function words(name: string): string {
  return name.toLowerCase().replaceAll("_", " ");
}

const PURPOSES: Record<string, string> = { frontier: "explore", semantic_map: "go by the map", ego_vlm: "go by the camera" };

/** The name of an arm of the policy, which is an expert's, in plain words. */
export function purpose(arm: string): string {
  return PURPOSES[arm] ?? words(arm);
}

/** The explanation of a decision without the name of its arm, which is told beside it. */
export function withoutArm(chosen: string, explanation: string): string {
  return explanation.startsWith(`${chosen}: `) ? explanation.slice(chosen.length + 2) : explanation;
}

const QUESTION = /^(where|when|what|which|who|why|how|is|are|was|were|did|do|does|has|have|had|can you see|could)\b/i;

const REQUEST = /^(?:please,? )?(?:can|could|will|would) you (?!see\b)/i;

/** Whether a text asks the memory, rather than telling the robot to do something. */
export function isQuestion(text: string): boolean {
  const said = text.trim();
  return !REQUEST.test(said) && (said.endsWith("?") || QUESTION.test(said));
}
