// Directives and questions in one box, what was understood before anything moves, progress, questions of the robot, answers.

import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { useApp, useLink, useStore } from "../app";
import { ago, clock, isQuestion, metres, percent, place, words } from "../format";
import { MAX_DIRECTIVE, MAX_PICTURE, type AnswerValue, type Directive, type Proof } from "../protocol";
import { showMoment } from "./moment";
import { keyframeAddress, Pictures } from "./pictures";
import { Talk, type Turn } from "./talk";

const MOST_PROOFS = 10; // that an answer lists

export function Conversation() {
  const app = useApp();
  const [talk] = useState(() => new Talk(app));
  const [, update] = useReducer((count: number) => count + 1, 0);
  useEffect(() => talk.subscribe(() => update(undefined)), []);
  const directive = useStore("directive").part("directive");
  const log = useRef<HTMLDivElement>(null);
  const last = talk.turns.at(-1)?.key ?? 0;
  // The turn after which the directive began: what was said since stands below its card, and is seen.
  const [after, setAfter] = useState(0);
  const before = useRef<Directive | null>(null);
  useEffect(() => {
    const former = before.current;
    before.current = directive ?? null;
    if (!directive || (former?.text === directive.text && (former.running || !directive.running))) return;
    if (former?.result) talk.keep(former);
    setAfter(talk.turns.at(-1)?.key ?? 0);
  }, [directive]);
  const news = after === last ? `${directive?.progress.length} ${directive?.running}` : "";
  useEffect(() => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  }, [last, news, directive?.question?.id, talk.waiting]);
  return (
    <section class="conversation" aria-label="Conversation">
      <div class="log" ref={log} tabIndex={0} role="log" aria-label="What was said">
        {talk.turns.length === 0 && !directive?.text && <p class="hint">Tell the robot what to do, such as “find the red chair”, or ask what it remembers.</p>}
        {talk.turns.filter(({ key }) => key <= after).map((turn) => <TurnLine key={turn.key} turn={turn} talk={talk} />)}
        {directive?.text && <DirectiveCard directive={directive} />}
        {talk.turns.filter(({ key }) => key > after).map((turn) => <TurnLine key={turn.key} turn={turn} talk={talk} />)}
        {talk.waiting && <p class="hint">{talk.waiting} …</p>}
      </div>
      <Say talk={talk} />
    </section>
  );
}

function TurnLine({ turn, talk }: { turn: Turn; talk: Talk }) {
  if (turn.kind === "said") return <p class="said data">{turn.text}</p>;
  if (turn.kind === "refused") return <p class="told bad">{turn.text}</p>;
  if (turn.kind === "ended") return <DirectiveCard directive={turn.directive} />;
  if (turn.kind === "answer") return <Answer text={turn.text} answer={turn.answer} />;
  return <Understood turn={turn} talk={talk} />;
}

function Understood({ turn, talk }: { turn: Extract<Turn, { kind: "understood" }>; talk: Talk }) {
  const app = useApp();
  const { meaning, settled } = turn;
  const begin = (): void => {
    void talk.begin(turn);
    document.getElementById("say")?.focus(); // the button goes away
  };
  const go = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const typed = (document.getElementById("say") as HTMLTextAreaElement | null)?.value;
    if (!typed) go.current?.focus(); // before it is seen: Enter at once means it, unless it sends what is typed
  }, []);
  return (
    <div class="told">
      <p><strong>Understood</strong> <span class="data">{meaning.understood}</span></p>
      {meaning.steps.length > 1 && <ol>{meaning.steps.map((step, index) => <li key={index} class="data">{step}</li>)}</ol>}
      {meaning.problem && <p class="bad">{meaning.problem}</p>}
      {settled === "" ? (
        <div class="actions">
          <button class="primary" ref={go} disabled={meaning.problem !== "" || !app.mayCommand} title={app.mayCommand ? "" : "Your role may not command"} onClick={begin}>Go</button>
          <button onClick={() => talk.leave(turn)}>Leave it</button>
        </div>
      ) : (
        <p class="hint">{{ sent: "Sending", begun: "Begun", refused: "Not begun", left: "Left" }[settled]}</p>
      )}
    </div>
  );
}

function Answer({ text, answer }: { text: string; answer: AnswerValue | null }) {
  const app = useApp();
  const now = useLink().now();
  const proofs = new Map(answer?.proofs.map((proof) => [keyframeAddress(proof), proof]));
  const show = (): void => {
    if (!answer) return;
    app.ui.set({ lit: { text, places: answer.places.map(({ x, y }) => [x, y]), entities: answer.entities }, panel: "map" });
  };
  return (
    <div class="told">
      <p class="data">{text}</p>
      {answer && (
        <p class="hint">
          {answer.confidence > 0 ? `${percent(answer.confidence)} sure` : "Not known"}{answer.last_verified > 0 ? `, seen ${ago(now - answer.last_verified)}` : ""}
        </p>
      )}
      <Pictures shots={[...proofs.values()].slice(0, 4)} of="the answer" />
      {answer && <Proofs proofs={answer.proofs} />}
      {answer && answer.places.length + answer.entities.length > 0 && <div class="actions"><button onClick={show}>Show on the map</button></div>}
      {answer?.directive && <p class="hint">To find out: <span class="data">{answer.directive}</span></p>}
    </div>
  );
}

/** What an answer rests on: when and where it was seen; a click shows that moment and place. */
function Proofs({ proofs }: { proofs: Proof[] }) {
  const app = useApp();
  const dated = proofs.filter((proof) => proof.text !== "" && proof.at > 0);
  if (dated.length === 0) return null;
  const show = (proof: Proof): void => {
    const places: [number, number][] = proof.x !== null && proof.y !== null ? [[proof.x, proof.y]] : [];
    app.ui.set({ lit: { text: proof.text, places, entities: proof.kind === "entity" ? [Number(proof.id)] : [] }, panel: "map" });
    void showMoment(app, { at: proof.at, text: proof.text, decision: "", keyframe: proof.keyframe, session: proof.session });
  };
  return (
    <details class="more">
      <summary>Rests on {dated.length} {dated.length === 1 ? "memory" : "memories"}</summary>
      <ol class="list">
        {dated.slice(0, MOST_PROOFS).map((proof) => (
          <li key={`${proof.kind} ${proof.id}`}>
            <button class="row" onClick={() => show(proof)}>
              <time>{clock(proof.at)}</time>
              <span class="what data">{proof.text}{proof.x !== null && proof.y !== null && <span class="hint"> at {place(proof.x, proof.y)}</span>}</span>
            </button>
          </li>
        ))}
      </ol>
    </details>
  );
}

function DirectiveCard({ directive }: { directive: Directive }) {
  const app = useApp();
  const [choosing, setChoosing] = useState(false);
  const { question, result } = directive;
  const answer = async (choice: number): Promise<void> => {
    setChoosing(true);
    await app.request("answer", { question: question!.id, choice });
    setChoosing(false);
  };
  return (
    <div class="directive">
      <p>
        <strong class="data">{directive.text}</strong>
        {directive.by && <span class="hint"> by {directive.by}</span>}
      </p>
      {directive.understood && directive.understood !== directive.text && <p class="hint data">{directive.understood}</p>}
      {directive.unseen && <p class="bad data">{directive.unseen}</p>}
      <ol class="progress" role="status">
        {directive.progress.slice(-8).map((one, index) => (
          <li key={index}><time>{clock(one.at)}</time> <span class="data">{one.text}</span></li>
        ))}
      </ol>
      {question && (
        <div class="question" role="alert">
          <p class="data">{question.text}</p>
          <div class="actions">
            {question.choices.map((choice, index) => (
              <button key={index} class="primary data" disabled={choosing} onClick={() => answer(index + 1)}>{choice}</button>
            ))}
          </div>
        </div>
      )}
      {directive.running && (
        <p class="hint">
          {[
            words(directive.phase),
            directive.travelled !== null && `${metres(directive.travelled)} driven`,
            directive.remaining !== null && `${metres(directive.remaining)} to the goal`,
          ].filter(Boolean).join(", ")}
        </p>
      )}
      {directive.running && <div class="actions"><button onClick={() => app.request("cancel", {})}>Cancel directive</button></div>}
      {result && <p class={result.success ? "good data" : "bad data"} title={result.success ? "" : `Code ${result.code}`}>{result.success ? "Done. " : "Not done. "}{result.text}</p>}
    </div>
  );
}

function Say({ talk }: { talk: Talk }) {
  const app = useApp();
  const [text, setText] = useState("");
  const [picture, setPicture] = useState<{ id: string; name: string } | null>(null);
  const [over, setOver] = useState(false);
  const send = (event: Event): void => {
    event.preventDefault();
    const said = text.trim();
    if (!said) return; // a stop is sent whatever is awaited
    setText("");
    setPicture(null);
    void talk.say(said, picture?.id ?? null);
  };
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const refused = pictureProblem(file) ?? (await upload(file, (id) => setPicture({ id, name: file.name })));
    if (refused) app.ui.say(refused, true);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer?.files[0]);
  };
  return (
    <form
      class={over ? "say over" : "say"}
      onSubmit={send}
      onDragOver={(event) => (event.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <label class="visually-hidden" for="say">Directive or question</label>
      <textarea
        id="say"
        rows={2}
        value={text}
        maxLength={MAX_DIRECTIVE}
        placeholder="Directive or question"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
        }}
      />
      <div class="actions">
        <label class="button">
          Picture
          <input
            class="visually-hidden"
            type="file"
            accept="image/jpeg,image/png"
            onChange={(event) => {
              void take(event.currentTarget.files?.[0]);
              event.currentTarget.value = "";
            }}
          />
        </label>
        {picture && <span class="picked data">{picture.name} <button type="button" class="square" aria-label="Leave the picture out" onClick={() => setPicture(null)}>×</button></span>}
        <span class="hint grow">{text.length >= MAX_DIRECTIVE ? `At most ${MAX_DIRECTIVE} characters` : text.trim() === "" ? "" : isQuestion(text) ? "A question: nothing moves" : "A directive: read back first"}</span>
        <button class="primary" type="submit" disabled={!text.trim()}>{isQuestion(text) ? "Ask" : "Send"}</button>
      </div>
    </form>
  );
}

/** Why a file cannot be a picture of a target, null where it can. */
function pictureProblem(file: File): string | null {
  if (file.type !== "image/jpeg" && file.type !== "image/png") return "A picture of a target has to be a JPEG or PNG file.";
  const size = file.size / 2 ** 20;
  const most = MAX_PICTURE / 2 ** 20;
  return file.size > MAX_PICTURE ? `This picture has ${size.toFixed(1)} MiB; at most ${most} MiB can be sent. Make it smaller.` : null;
}

/** Upload a picture; returns why it was refused, or null. */
async function upload(file: File, done: (id: string) => void): Promise<string | null> {
  try {
    const response = await fetch("/pictures", { method: "POST", body: file, headers: { "Content-Type": file.type } });
    if (!response.ok) return refusal(await response.text()) || `The picture was refused (${response.status}).`;
    done(((await response.json()) as { picture: string }).picture);
    return null;
  } catch {
    return "The picture could not be sent: the link to the robot is lost.";
  }
}

/** The sentence of a refusal, which the server sends as {"error": sentence}. */
function refusal(body: string): string {
  try {
    return String((JSON.parse(body) as { error?: string }).error ?? "").slice(0, 300);
  } catch {
    return body.slice(0, 300);
  }
}
