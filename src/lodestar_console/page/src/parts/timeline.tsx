// The run in time: decisions, answers, corrections, failures. A click shows what was known then.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type App, useApp, useLink, useStore, useUi } from "../app";
import { clock, shorten, withoutArm, words } from "../format";
import { readPalette } from "../map/palette";
import type { Decision, Event } from "../protocol";
import type { Key } from "../store";
import { type Past, showMoment } from "./moment";
import { Thumb } from "./pictures";
import { moved, ticks, type TimeScale, toPixel, toTime, zoomed } from "../timescale";

const LANE = 14; // px
const AXIS = 18; // px
const LANES = 3; // for which there is always room, so that the map above does not move
const LISTED = 100; // newest entries, as text on a phone
const WIDE = 200; // px of the preview of an entry
const NEAR = 8; // px within which a click takes an item

interface Item extends Past {
  kind: string;
}

export function Timeline() {
  const app = useApp();
  const ui = useUi();
  const store = useStore("decisions", "events");
  const now = useLink().now();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [chosen, setChosen] = useState<TimeScale | null>(null); // null: the whole run, to now
  const [pointed, setPointed] = useState<Item | null>(null);
  const { decisions, events } = store.tables;
  const items = useMemo(() => collect(decisions.rows, events.rows), [decisions.revision, events.revision]);
  const first = items[0]?.at ?? now;
  const scale: TimeScale = chosen ? { ...chosen, width } : { begin: first - 1, end: Math.max(now, first + 30), width };
  const lanes = [...new Set(items.map((item) => item.kind))];

  useEffect(() => {
    const resized = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    resized.observe(canvas.current!.parentElement!);
    return () => resized.disconnect();
  }, []);
  const span = Math.round((scale.end - scale.begin) * (width ? 1 : 0));
  const version = `${items.length} ${width} ${scale.begin} ${chosen ? scale.end : Math.round((now / Math.max(1, span)) * width)} ${ui.moment?.time} ${app.ui.darkNow}`;
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, scale, items, lanes, ui.moment?.time ?? null);
  }, [version]);

  const under = (event: MouseEvent): Item | null => {
    const box = canvas.current!.getBoundingClientRect();
    return nearest(items, scale, timeAt(event), lanes[Math.floor((event.clientY - box.top) / LANE)] ?? "");
  };
  const jump = (event: MouseEvent): void => {
    void showMoment(app, under(event) ?? { at: timeAt(event), text: "", decision: "", keyframe: 0 });
  };
  const timeAt = (event: MouseEvent): number => toTime(scale, event.clientX - canvas.current!.getBoundingClientRect().left);
  const onKey = (event: KeyboardEvent): void => {
    const middle = width / 2;
    const key = event.key;
    if (key === "ArrowLeft" || key === "ArrowRight") stepItem(app, items, key === "ArrowLeft" ? -1 : 1);
    else if (key === "+" || key === "=") setChosen(zoomed(scale, 1.5, middle));
    else if (key === "-") setChosen(zoomed(scale, 1 / 1.5, middle));
    else if (key === "0") setChosen(null);
    else return;
    event.preventDefault();
  };
  const onWheel = (event: WheelEvent): void => {
    const left = canvas.current!.getBoundingClientRect().left;
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const shift = ((scale.end - scale.begin) * event.deltaX) / Math.max(1, width);
    setChosen(sideways ? moved(scale, shift) : zoomed(scale, Math.exp(-0.002 * event.deltaY), event.clientX - left));
  };
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="timeline-head">
        <h2>Timeline</h2>
        <p role="status" class="data">{ui.moment ? `${clock(ui.moment.time)}  ${ui.moment.text}` : items.length === 0 ? "Nothing has happened yet." : `${items.length} entries. Left and right go through them.`}</p>
        {ui.moment && <button onClick={() => app.ui.set({ moment: null })}>Back to now</button>}
        <button onClick={() => setChosen(null)} disabled={!chosen}>Whole run</button>
        <button class="square" aria-label="Zoom timeline out" onClick={() => setChosen(zoomed(scale, 1 / 1.5, width / 2))}>−</button>
        <button class="square" aria-label="Zoom timeline in" onClick={() => setChosen(zoomed(scale, 1.5, width / 2))}>+</button>
      </div>
      <div class="timeline-lanes">
        <ul class="lane-names" aria-hidden="true">{lanes.map((lane) => <li key={lane}>{lane}</li>)}</ul>
        <div
          class="timeline-stage"
          tabIndex={0}
          role="application"
          aria-label="Timeline. Left and right go through the entries, plus and minus zoom, 0 shows the whole run."
          onKeyDown={onKey}
          onWheel={onWheel}
          onPointerMove={(event) => event.pointerType === "mouse" && setPointed(under(event))}
          onPointerLeave={() => setPointed(null)}
          onClick={jump}
        >
          <canvas ref={canvas} height={AXIS + LANE * Math.max(LANES, lanes.length)} />
        </div>
        {pointed && canvas.current && <Preview item={pointed} stage={canvas.current.getBoundingClientRect()} at={toPixel(scale, pointed.at)} />}
      </div>
      <ol class="list entries">
        {items.slice(-LISTED).reverse().map((item, index) => (
          <li key={index}>
            <button class="row" onClick={() => void showMoment(app, item)}>
              <time>{clock(item.at)}</time><span class="what data">{item.text}</span>
              {item.keyframe > 0 && <Thumb shot={{ keyframe: item.keyframe, session: "" }} of={item.text} />}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What an entry is, above its place in the lanes. */
function Preview({ item, stage, at }: { item: Item; stage: DOMRect; at: number }) {
  const left = Math.min(Math.max(4, stage.left + at - WIDE / 2), innerWidth - WIDE - 4);
  return (
    <div class="preview" aria-hidden="true" style={{ left: `${Math.round(left)}px`, bottom: `${Math.round(innerHeight - stage.top + 6)}px`, width: `${WIDE}px` }}>
      {item.keyframe > 0 && <Thumb shot={{ keyframe: item.keyframe, session: "" }} of={item.text} />}
      <p class="data"><time>{clock(item.at)}</time> {item.kind}: {shorten(item.text, 140)}</p>
    </div>
  );
}

function collect(decisions: ReadonlyMap<Key, Decision>, events: ReadonlyMap<Key, Event>): Item[] {
  const shots = new Map([...events.values()].map((one) => [one.decision, one.keyframe]));
  const made = [...decisions.values()].map((one) => ({ at: one.at, kind: "decision", text: withoutArm(one.chosen, one.explanation), decision: one.id, keyframe: shots.get(one.id) ?? 0 }));
  const told = [...events.values()].map(({ at, kind, text, decision, keyframe }) => ({ at, kind: words(kind), text, decision, keyframe })).filter((one) => one.kind !== "decision");
  return [...made, ...told].sort((one, other) => one.at - other.at);
}

/** The entry at a time, within `NEAR` px; one of the same lane first. */
function nearest(items: readonly Item[], scale: TimeScale, time: number, lane: string): Item | null {
  let best: Item | null = null;
  let least = 2 * NEAR;
  for (const item of items) {
    const distance = Math.abs(toPixel(scale, item.at) - toPixel(scale, time)) + (item.kind === lane ? 0 : NEAR);
    if (distance < least) [best, least] = [item, distance];
  }
  return best;
}

function stepItem(app: App, items: readonly Item[], by: number): void {
  if (items.length === 0) return;
  const { moment } = app.ui.state;
  let at = by < 0 ? items.length - 1 : 0;
  if (moment) {
    const later = items.findIndex((item) => item.at > moment.time);
    const before = items.findLastIndex((item) => item.at < moment.time);
    at = by > 0 ? (later < 0 ? items.length - 1 : later) : Math.max(0, before);
  }
  void showMoment(app, items[at]!);
}

function draw(canvas: HTMLCanvasElement, scale: TimeScale, items: readonly Item[], lanes: readonly string[], moment: number | null): void {
  const palette = readPalette();
  const ratio = Math.min(devicePixelRatio, 2);
  const height = AXIS + LANE * Math.max(LANES, lanes.length);
  canvas.width = Math.round(scale.width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const time of ticks(scale)) {
    const x = Math.round(toPixel(scale, time)) + 0.5;
    context.fillStyle = palette.line;
    context.fillRect(x, 0, 1, height - AXIS);
    context.fillStyle = palette.muted;
    const text = clock(time);
    const wide = context.measureText(text).width;
    if (x - wide / 2 >= 0 && x + wide / 2 <= scale.width) context.fillText(text, x - wide / 2, height - AXIS / 2);
  }
  for (const item of items) {
    const x = toPixel(scale, item.at);
    if (x < -4 || x > scale.width + 4) continue;
    const y = LANE * lanes.indexOf(item.kind) + LANE / 2;
    context.fillStyle = item.kind === "decision" ? palette.accent : /fail|error|lost/.test(item.kind) ? palette.danger : palette.text;
    context.fillRect(x - 1.5, y - 5, 3, 10);
  }
  if (moment !== null) {
    context.fillStyle = palette.warn;
    context.fillRect(toPixel(scale, moment) - 1, 0, 2, height - AXIS);
  }
}
