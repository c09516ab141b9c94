// The camera's picture with what was detected in it, and what the vocabulary can name now; or the picture of a moment.

import { useEffect, useRef, useState } from "preact/hooks";
import { useApp, useStore, useUi, useView } from "../app";
import { clock, percent, shorten } from "../format";
import type { CameraFrame } from "../frames";
import { areaOf, type Point2, within } from "../geometry";
import { instanceColor } from "../map/palette";
import { keyframeAddress, type Shot } from "./pictures";

const MOST_CHIPS = 6; // things in view that are named below the picture

export function Camera() {
  const app = useApp();
  const { moment } = useUi();
  return (
    <section class="camera" aria-label="Camera">
      {moment && moment.keyframe > 0 ? (
        <Then key={moment.keyframe} shot={moment} time={moment.time} />
      ) : (
        <Live />
      )}
      {moment && (
        <p class="caption">
          As it was at {clock(moment.time)} <button onClick={() => app.ui.set({ moment: null })}>Back to now</button>
        </p>
      )}
      <VocabularyLine />
    </section>
  );
}

function Then({ shot, time }: { shot: Shot; time: number }) {
  const [gone, setGone] = useState(false);
  if (gone) return <div class="no-picture"><p>No picture of then is kept.</p></div>;
  const address = keyframeAddress(shot);
  return <figure><img src={address} alt={`What the robot saw at ${clock(time)}`} onError={() => setGone(true)} /></figure>;
}

function Live() {
  const app = useApp();
  const { selected } = useUi();
  const things = useStore("entities").rows("entities");
  const view = useView("camera");
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = view.camera;
  const chosen = selected?.kind === "entity" ? Number(selected.id) : 0;
  useEffect(() => {
    if (!frame || !canvas.current) return undefined;
    let newer = false;
    void createImageBitmap(frame.picture).then(
      (picture) => {
        if (!newer && canvas.current) drawCamera(canvas.current, picture, frame, chosen);
        picture.close();
      },
      () => undefined, // a picture that cannot be read: the next one follows
    );
    return () => {
      newer = true;
    };
  }, [frame, chosen]);
  if (!frame) return <div class="no-picture"><p>No picture yet.</p></div>;
  const seen = frame.detections.map((one) => one.label);
  const known = frame.detections.filter((one, index, all) => things.has(one.entity) && all.findIndex((other) => other.entity === one.entity) === index);
  const open = (entity: number): void => app.ui.set({ selected: { kind: "entity", id: entity }, panel: "map" });
  const onClick = (event: MouseEvent): void => {
    const box = canvas.current!.getBoundingClientRect();
    const at: Point2 = [((event.clientX - box.left) / box.width) * frame.width, ((event.clientY - box.top) / box.height) * frame.height];
    const hit = known.filter((one) => within(at, one.outline)).sort((one, other) => areaOf(one.outline) - areaOf(other.outline))[0];
    if (hit) open(hit.entity);
  };
  return (
    <>
      <figure class={known.length > 0 ? "clickable" : ""}>
        <canvas ref={canvas} role="img" aria-label={seen.length > 0 ? `In view: ${seen.join(", ")}` : "Nothing is detected in view"} onClick={onClick} />
      </figure>
      {known.length > 0 && (
        <ul class="in-view" aria-label="Things in view">
          {known.slice(0, MOST_CHIPS).map((one) => (
            <li key={one.entity}>
              <button class="chip data" aria-pressed={one.entity === chosen} onClick={() => open(one.entity)}>{shorten(things.get(one.entity)!.label, 20)} {one.entity}</button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function drawCamera(canvas: HTMLCanvasElement, picture: ImageBitmap, frame: CameraFrame, chosen: number): void {
  canvas.width = frame.width;
  canvas.height = frame.height;
  const context = canvas.getContext("2d")!;
  context.drawImage(picture, 0, 0, frame.width, frame.height);
  const size = Math.max(11, Math.round(frame.height / 32));
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.textBaseline = "top";
  const line = Math.max(1.5, frame.height / 240);
  for (const one of frame.detections) {
    if (one.outline.length < 2) continue;
    const color = `rgb(${instanceColor(one.entity || one.label.length + 1).join()})`;
    context.strokeStyle = color;
    context.lineWidth = one.entity > 0 && one.entity === chosen ? 3 * line : line;
    context.beginPath();
    one.outline.forEach(([u, v]) => context.lineTo(u, v));
    context.closePath();
    context.stroke();
    const left = Math.min(...one.outline.map(([u]) => u));
    const top = Math.min(...one.outline.map(([, v]) => v));
    const text = `${shorten(one.label, 24)} ${percent(one.score)}`;
    const wide = context.measureText(text).width + 6;
    const [u, v] = [Math.min(Math.max(0, left), frame.width - wide), Math.max(0, top - size - 5)];
    context.fillStyle = "rgba(16, 20, 24, 0.78)";
    context.fillRect(u, v, wide, size + 5);
    context.fillStyle = "#ffffff";
    context.fillText(text, u + 3, v + 3);
  }
}

function VocabularyLine() {
  const vocabulary = useStore("vocabulary").part("vocabulary");
  if (!vocabulary) return null;
  const { words, unseen } = vocabulary;
  return (
    <details class="vocabulary">
      <summary>
        {vocabulary.problem || (vocabulary.is_open ? `Can name anything asked for, ${words.length} words now` : `Can name ${words.length} words`)}
        {unseen.length > 0 && <strong>, not: <span class="data">{unseen.join(", ")}</span></strong>}
      </summary>
      <p class="data">{words.join(", ")}{vocabulary.by ? ` (${vocabulary.by})` : ""}</p>
    </details>
  );
}
