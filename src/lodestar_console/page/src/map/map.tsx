// The map with its tools: select, point out, name a room, close a way, keep out of an area.

import { useEffect, useRef, useState } from "preact/hooks";
import { type App, useApp, useStore, useUi } from "../app";
import { place } from "../format";
import { areaOf, outlineFault, type Point2, within } from "../geometry";
import type { PointedValue } from "../protocol";
import type { Layer, Selection, Tool } from "../ui";
import { MapRenderer } from "./renderer";
import { SolidView } from "./solid";
import { ThingCard } from "./thing";

const STEP = 60; // px that an arrow key pans
const CLICK = 5; // px that a click may move

const TOOLS: [Tool, string, string][] = [
  ["select", "Select", "Click a thing, a room or a frontier to see what is known of it."],
  ["point", "Point out", "Click the place that you mean."],
  ["room", "Name room", "Click the room that you want to name."],
  ["way", "Close way", "Click the two ends of the line that the robot must not cross."],
  ["zone", "Keep out", "Click the corners of the area that the robot must not enter, in turn."],
];

const LAYERS: [Layer, string][] = [
  ["rooms", "Rooms"],
  ["objects", "Objects"],
  ["frontiers", "Frontiers with gain"],
  ["paths", "Path and goal"],
  ["zones", "Keep-out and closed ways"],
  ["looks", "What was looked at"],
  ["memories", "Memories"],
  ["changes", "Changes since the last map"],
];

export function MapPanel() {
  const app = useApp();
  const ui = useUi();
  const stage = useRef<HTMLDivElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [renderer, setRenderer] = useState<MapRenderer | null>(null);

  useEffect(() => {
    const made = new MapRenderer(app, over.current!);
    const resized = new ResizeObserver(([entry]) => made.resize(entry!.contentRect.width, entry!.contentRect.height));
    resized.observe(stage.current!);
    const ends = [
      app.store.subscribe(["path", "frontiers", "rooms", "zones", "entities", "memories", "changes", "directive"], made.request),
      app.store.subscribe(["robot"], made.requestIfMoved),
      app.ui.subscribe(made.requestAll),
      ...(["grid", "cloud", "looks"] as const).map((topic) => app.view.subscribe(topic, made.requestAll)),
      listenFlat(stage.current!, made),
    ];
    setRenderer(made);
    return () => {
      resized.disconnect();
      ends.forEach((end) => end());
      made.dispose();
    };
  }, []);

  const { looks, memories } = ui.layers;
  const remembers = memories || ui.tab === "memories";
  useEffect(() => app.view.want({ cloud: ui.solid, looks, memories: remembers }), [ui.solid, looks, remembers]);

  return (
    <section class="map" aria-label="Map">
      <Bar renderer={renderer} />
      <div
        class={`stage tool-${ui.tool}`}
        ref={stage}
        tabIndex={0}
        role="application"
        aria-label="Map. Arrow keys move it, plus and minus zoom, 0 shows all of it. N and P go through the things. Enter uses the tool at the middle."
        onKeyDown={(event) => renderer && onKey(event, app, renderer)}
        onBlur={() => renderer && showCrosshair(renderer, false)}
        onClick={(event) => renderer && stage.current && onClick(event, stage.current, app, renderer)}
      >
        {ui.solid && renderer && <SolidCanvas renderer={renderer} stage={stage.current!} />}
        <canvas class="over" ref={over} />
        <MapEmpty />
      </div>
      {renderer && <Zoom renderer={renderer} />}
      <ToolForm key={ui.tool} />
      <ThingCard />
    </section>
  );
}

/** Says why there is no map yet. */
function MapEmpty() {
  const store = useStore("robot", "health");
  const robot = store.part("robot");
  const waiting = (store.part("health")?.stack ?? []).filter((node) => node.state !== "there").map((node) => node.name);
  if (robot?.pose) return null;
  if (waiting.length > 0) return <p class="empty-map">Waiting for {waiting.join(", ")}.</p>;
  const over = robot?.state.toLowerCase() === "recorded";
  return <p class="empty-map">{over ? "This run is over. Its log holds no map." : "The robot has not told where it is yet."}</p>;
}

function Bar({ renderer }: { renderer: MapRenderer | null }) {
  const app = useApp();
  const choices = app.ui;
  const ui = useUi();
  useStore("hello"); // which tells what this page may do
  return (
    <div class="bar" role="toolbar" aria-label="Map tools">
      <div class="segments" role="group" aria-label="View">
        <button aria-pressed={!ui.solid} onClick={() => choices.set({ solid: false })}>2D</button>
        <button aria-pressed={ui.solid} onClick={() => choices.set({ solid: true })}>3D</button>
      </div>
      <div class="segments" role="group" aria-label="What a click does">
        {TOOLS.map(([tool, name, help]) => (
          <button key={tool} aria-pressed={ui.tool === tool} disabled={tool !== "select" && !app.mayCommand} title={help} onClick={() => choices.set({ tool, selected: null, places: [] })}>{name}</button>
        ))}
      </div>
      <details class="menu">
        <summary>Layers</summary>
        <div class="sheet">
          {LAYERS.map(([layer, name]) => (
            <label key={layer}>
              <input
                type="checkbox"
                checked={ui.layers[layer]}
                onChange={(event) => choices.set({ layers: { ...ui.layers, [layer]: event.currentTarget.checked } })}
              />
              {name}
            </label>
          ))}
        </div>
      </details>
      {ui.solid && (
        <div class="segments" role="group" aria-label="Colours of the surface">
          <button aria-pressed={!ui.byInstance} title="The surface as the camera saw it" onClick={() => choices.set({ byInstance: false })}>Colour</button>
          <button aria-pressed={ui.byInstance} title="Each thing in a colour of its own" onClick={() => choices.set({ byInstance: true })}>By thing</button>
        </div>
      )}
      <span class="grow" />
      <button class="follow" aria-pressed={ui.follow} onClick={() => choices.set({ follow: !ui.follow })}>Follow</button>
      <button onClick={() => renderer?.fit()}>Fit</button>
    </div>
  );
}

function Zoom({ renderer }: { renderer: MapRenderer }) {
  return (
    <div class="zoom" role="group" aria-label="Zoom">
      <button class="square" aria-label="Zoom out" onClick={() => zoom(renderer, 1 / 1.4)}>−</button>
      <button class="square" aria-label="Zoom in" onClick={() => zoom(renderer, 1.4)}>+</button>
    </div>
  );
}

function SolidCanvas({ renderer, stage }: { renderer: MapRenderer; stage: HTMLElement }) {
  const { ui } = useApp();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let view: SolidView;
    try {
      view = new SolidView(canvas.current!, stage, renderer.requestAll);
    } catch {
      ui.say("This browser has no WebGL, so there is no 3D map. The 2D map shows the same things.", true);
      ui.set({ solid: false });
      return undefined;
    }
    renderer.setSolid(view);
    return () => {
      renderer.setSolid(null);
      view.dispose();
    };
  }, []);
  return <canvas class="solid" ref={canvas} />;
}

function ToolForm() {
  const app = useApp();
  const ui = useUi();
  const store = useStore("rooms");
  const { places } = ui;
  const [text, setText] = useState("");
  const [minutes, setMinutes] = useState("0");
  if (ui.tool === "select") return null;
  const [, name, help] = TOOLS.find(([tool]) => tool === ui.tool)!;
  const at = places[0];
  const room = at && store.part("rooms")?.find((one) => within(at, one.outline));
  const size = ui.tool === "zone" ? areaOf(places) : 0;
  const fault = ui.tool === "zone" ? outlineFault(places) : "";
  const enough = { select: false, point: true, room: text.trim() !== "", way: places.length === 2, zone: places.length >= 3 && size >= 0.01 && !fault };
  const ready = at !== undefined && enough[ui.tool];
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!ready || !at) return;
    const [x, y] = at;
    const reply =
      ui.tool === "point"
        ? await app.request("point_out", { x, y })
        : ui.tool === "room"
          ? await app.request("name_room", { room: room?.id ?? 0, name: text.trim(), x, y })
          : ui.tool === "way"
            ? await app.request("close_way", { start: at, end: places[1]!, minutes: Number(minutes) })
            : await app.request("zone", { outline: [...places], text: text.trim(), minutes: Number(minutes) });
    if (!reply.ok) return;
    app.ui.say(reply.text || `${name}: done.`);
    const entity = ui.tool === "point" ? (reply.value as PointedValue | null)?.entity ?? 0 : 0;
    app.ui.set({ tool: "select", places: [], selected: entity > 0 ? { kind: "entity", id: entity } : null });
  };
  return (
    <form class="tool-form" onSubmit={save}>
      <p role={fault ? "alert" : undefined}>{toolText(ui.tool, places, size, fault) || help}</p>
      {ui.tool === "room" && at && (
        <label>
          {room?.name ? `Name instead of ${room.name}` : "Name of the room"}
          <input value={text} maxLength={80} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      )}
      {ui.tool === "zone" && at && (
        <label>
          What it is
          <input value={text} maxLength={80} placeholder="wet floor" onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      )}
      {(ui.tool === "zone" || ui.tool === "way") && at && (
        <label>
          How long
          <select value={minutes} onChange={(event) => setMinutes(event.currentTarget.value)}>
            {LENGTHS.map(([value, said]) => <option key={value} value={value}>{said}</option>)}
          </select>
        </label>
      )}
      <button type="submit" class="primary" disabled={!ready}>{name}</button>
      {ui.tool === "zone" && at && <button type="button" onClick={() => app.ui.set({ places: places.slice(0, -1) })}>Take back corner</button>}
      <button type="button" onClick={() => app.ui.set({ tool: "select", places: [] })}>Cancel</button>
    </form>
  );
}

const LENGTHS: [string, string][] = [["0", "until it is removed"], ["15", "15 min"], ["60", "1 h"], ["480", "8 h"]];
const MOST_CORNERS = 64;

/** Say what was clicked so far. */
function toolText(tool: Tool, places: readonly Point2[], size: number, fault: string): string {
  if (places.length === 0) return "";
  if (tool !== "zone") return places.map(([x, y]) => place(x, y)).join(" to ");
  const corners = `${places.length} ${places.length === 1 ? "corner" : "corners"}`;
  if (fault) return `${corners}; ${fault}.`;
  return places.length < 3 ? `${corners}; an area has at least 3.` : `${corners}, ${size.toFixed(1)} m²`;
}

function zoom(renderer: MapRenderer, factor: number): void {
  renderer.choose();
  renderer.view.zoom(factor);
  renderer.requestAll();
}

function showCrosshair(renderer: MapRenderer, shown: boolean): void {
  renderer.crosshair = shown;
  renderer.request();
}

function use(app: App, renderer: MapRenderer, u: number, v: number): void {
  const { tool, places } = app.ui.state;
  if (tool !== "select") {
    const at = renderer.view.floor(u, v);
    if (!at) return;
    if (tool === "zone") app.ui.set({ places: [...places, at].slice(0, MOST_CORNERS) });
    else app.ui.set({ places: tool === "way" && places.length === 1 ? [places[0]!, at] : [at] });
    return;
  }
  const selected = renderer.overlay.hit(u, v) ?? zoneAt(app, renderer.view.floor(u, v));
  app.ui.set(selected ? { selected } : { selected, lit: null });
}

/** The zone that a place of the floor lies in. */
function zoneAt(app: App, at: Point2 | null): Selection | null {
  if (!at || !app.ui.state.layers.zones) return null;
  const zone = app.store.part("zones")?.find((one) => one.kind === "keep_out" && within(at, one.outline));
  return zone ? { kind: "zone", id: zone.id } : null;
}

function onClick(event: MouseEvent, stage: HTMLElement, app: App, renderer: MapRenderer): void {
  const box = stage.getBoundingClientRect();
  if (Math.hypot(event.clientX - renderer.pressedAt[0], event.clientY - renderer.pressedAt[1]) > CLICK) return;
  use(app, renderer, event.clientX - box.left, event.clientY - box.top);
}

function onKey(event: KeyboardEvent, app: App, renderer: MapRenderer): void {
  const { view } = renderer;
  const pans: Record<string, [number, number]> = {
    ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP],
  };
  const pan = pans[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (pan || ["+", "=", "-"].includes(event.key)) renderer.choose();
  if (pan) view.pan(...pan);
  else if (event.key === "+" || event.key === "=") view.zoom(1.4);
  else if (event.key === "-") view.zoom(1 / 1.4);
  else if (event.key === "0") renderer.fit();
  else if (event.key === "n" || event.key === "p") step(app, renderer, event.key === "n" ? 1 : -1);
  else if (event.key === "Enter") use(app, renderer, view.width / 2, view.height / 2);
  else return;
  event.preventDefault();
  renderer.requestAll();
  showCrosshair(renderer, true);
}

/** Select the next thing of the map, by number, and look at it. */
function step(app: App, renderer: MapRenderer, by: number): void {
  const things = [...app.store.rows("entities").values()].filter((one) => one.state !== "archived");
  if (things.length === 0) return;
  things.sort((one, other) => one.id - other.id);
  const { selected } = app.ui.state;
  const at = things.findIndex((one) => selected?.kind === "entity" && one.id === selected.id);
  const next = things[(at + by + things.length + (at < 0 && by < 0 ? 1 : 0)) % things.length]!;
  renderer.lookAt([next.mean[0], next.mean[1]]);
  app.ui.set({ selected: { kind: "entity", id: next.id }, follow: false });
}

/** Dragging, pinching and the wheel on the flat map; the solid one has controls of its own. */
function listenFlat(stage: HTMLElement, renderer: MapRenderer): () => void {
  const held = new Map<number, [number, number]>();
  const { flat } = renderer;
  const down = (event: PointerEvent): void => {
    if (held.size === 0) renderer.pressedAt = [event.clientX, event.clientY];
    held.set(event.pointerId, [event.clientX, event.clientY]);
    if (!renderer.solid && event.target instanceof HTMLCanvasElement) stage.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    const before = held.get(event.pointerId);
    if (!before) return;
    if (renderer.solid) return renderer.choose();
    if (event.clientX === before[0] && event.clientY === before[1]) return;
    renderer.choose();
    const others = [...held].filter(([id]) => id !== event.pointerId);
    held.set(event.pointerId, [event.clientX, event.clientY]);
    const other = others[0]?.[1];
    if (!other) flat.pan(event.clientX - before[0], event.clientY - before[1]);
    else {
      const box = stage.getBoundingClientRect();
      const reach = (at: [number, number]): number => Math.hypot(at[0] - other[0], at[1] - other[1]);
      const factor = reach([event.clientX, event.clientY]) / Math.max(1, reach(before));
      flat.zoom(factor, (event.clientX + other[0]) / 2 - box.left, (event.clientY + other[1]) / 2 - box.top);
    }
    renderer.request();
  };
  const up = (event: PointerEvent): void => {
    held.delete(event.pointerId);
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    renderer.choose();
    if (renderer.solid) return;
    const box = stage.getBoundingClientRect();
    flat.zoom(Math.exp(-0.0015 * event.deltaY), event.clientX - box.left, event.clientY - box.top);
    renderer.request();
  };
  stage.addEventListener("pointerdown", down);
  stage.addEventListener("pointermove", move);
  stage.addEventListener("pointerup", up);
  stage.addEventListener("pointercancel", up);
  stage.addEventListener("wheel", wheel, { passive: false });
  return () => {
    stage.removeEventListener("pointerdown", down);
    stage.removeEventListener("pointermove", move);
    stage.removeEventListener("pointerup", up);
    stage.removeEventListener("pointercancel", up);
    stage.removeEventListener("wheel", wheel);
  };
}
