// The conversation of this page: what was said here, and what the robot answered. Bounded; the run's log has all of it.

import type { App } from "../app";
import { isQuestion } from "../format";
import type { AnswerValue, Directive, MeaningValue, Reply } from "../protocol";

const MOST = 200;

export type Turn =
  | { kind: "said"; key: number; at: number; text: string }
  | { kind: "understood"; key: number; at: number; text: string; meaning: MeaningValue; picture: string | null; settled: string }
  | { kind: "answer"; key: number; at: number; text: string; answer: AnswerValue | null }
  | { kind: "ended"; key: number; at: number; directive: Directive }
  | { kind: "refused"; key: number; at: number; text: string };

type Draft = Turn extends infer Kind ? (Kind extends Turn ? Omit<Kind, "key" | "at"> : never) : never;

export class Talk {
  turns: readonly Turn[] = [];
  private pending: readonly string[] = []; // what replies are awaited for
  private next = 1;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly app: Pick<App, "link" | "ui">) {}

  /** What a reply is awaited for, the newest if there are several, "" = none. */
  get waiting(): string {
    return this.pending.at(-1) ?? "";
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Say something: a question goes to the memory, a directive is read back before anything moves, a stop is sent at once and what follows it is read back. */
  async say(text: string, picture: string | null): Promise<void> {
    this.add({ kind: "said", text: picture ? `${text} (with a picture)` : text });
    if (isQuestion(text)) await this.ask(text, picture);
    else await this.read(text, picture);
  }

  /** Begin what was understood; returns whether it was accepted. */
  async begin(turn: Extract<Turn, { kind: "understood" }>): Promise<boolean> {
    this.settle(turn, "sent");
    const reply = await this.wait("Sending", this.app.link.request("directive", { text: turn.text, picture: turn.picture }));
    this.settle(turn, reply.ok ? "begun" : "refused");
    if (!reply.ok) this.add({ kind: "refused", text: reply.text });
    return reply.ok;
  }

  /** Keep a directive that has ended, as another one takes its place. */
  keep(directive: Directive): void {
    this.add({ kind: "ended", directive });
  }

  leave(turn: Extract<Turn, { kind: "understood" }>): void {
    this.settle(turn, "left");
  }

  private async ask(text: string, picture: string | null): Promise<void> {
    const reply = await this.wait("Asking the memory", this.app.link.request("ask", { text, picture }));
    const answer = reply.ok ? (reply.value as AnswerValue | null) : null;
    if (!reply.ok) return void this.add({ kind: "refused", text: reply.text });
    this.add({ kind: "answer", text: answer?.text || reply.text, answer });
    if (!answer || (answer.places.length === 0 && answer.entities.length === 0)) return;
    this.app.ui.set({ lit: { text: answer.text, places: answer.places.map(({ x, y }) => [x, y]), entities: answer.entities } });
  }

  /** Read a text back. isRest: it follows a stop that was sent, so that a stop in it waits to be confirmed. */
  private async read(text: string, picture: string | null, isRest = false): Promise<void> {
    const reply = await this.wait("Reading", this.app.link.request("directive", { text, picture, dry_run: true }));
    if (!reply.ok) return void this.add({ kind: "refused", text: reply.text });
    const meaning = (reply.value as MeaningValue | null) ?? { understood: reply.text, steps: [], problem: "", stops: false, rest: "" };
    if (!meaning.stops || isRest) return void this.add({ kind: "understood", text, meaning, picture, settled: "" });
    const stop = this.add({ kind: "understood", text: "stop", meaning, picture: null, settled: "sent" });
    if (stop.kind === "understood" && (await this.begin(stop)) && meaning.rest) await this.read(meaning.rest, picture, true);
  }

  private async wait(what: string, reply: Promise<Reply>): Promise<Reply> {
    this.pending = [...this.pending, what];
    this.tell();
    try {
      return await reply;
    } finally {
      const index = this.pending.indexOf(what);
      this.pending = this.pending.filter((_, at) => at !== index);
      this.tell();
    }
  }

  private add(turn: Draft): Turn {
    const made = { ...turn, key: this.next++, at: this.app.link.now() } as Turn;
    this.turns = [...this.turns, made].slice(-MOST);
    this.tell();
    return made;
  }

  private settle(turn: Extract<Turn, { kind: "understood" }>, settled: string): void {
    this.turns = this.turns.map((one) => (one.key === turn.key ? { ...turn, settled } : one));
    this.tell();
  }

  private tell(): void {
    this.listeners.forEach((listener) => listener());
  }
}
