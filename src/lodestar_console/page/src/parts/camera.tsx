// The camera's picture with what was detected in it, and what the vocabulary can name now; or the picture of a moment.

import { useEffect, useRef, useState } from "preact/hooks";
import { useApp, useLink, useStore, useUi, useView } from "../app";
import { clock, duration, percent, shorten } from "../format";
import type { CameraFrame } from "../frames";
import { areaOf, type Point2, within } from "../geometry";
import { placeLabels, type Wish } from "../map/labels";
import { instanceColor } from "../map/palette";
import { keyframeAddress, type Shot } from "./pictures";

const OLD = 3; // s from which a picture is told to be old
const LETTER = 11; // px on the screen, height of a name in the picture
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
  const link = useLink();
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
  const age = link.now() - frame.stamp;
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
      {age > OLD && <p class="caption bad">The picture is {duration(age)} old.</p>}
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
  const size = Math.ceil((LETTER * frame.width) / Math.max(1, canvas.clientWidth || frame.width)); // of the picture's pixels
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.textBaseline = "top";
  const line = Math.max(1.5, frame.height / 240);
  const wishes: Wish[] = [];
  frame.detections.forEach((one, index) => {
    if (one.outline.length < 2) return;
    const color = `rgb(${instanceColor(one.entity || one.label.length + 1).join()})`;
    context.strokeStyle = color;
    context.lineWidth = one.entity > 0 && one.entity === chosen ? 3 * line : line;
    context.beginPath();
    one.outline.forEach(([u, v]) => context.lineTo(u, v));
    context.closePath();
    context.stroke();
    const [us, vs] = [one.outline.map(([u]) => u), one.outline.map(([, v]) => v)];
    const width = context.measureText(nameOf(one)).width + 6;
    const high = size + 5;
    const x = Math.min(Math.max((Math.min(...us) + Math.max(...us)) / 2, width / 2), frame.width - width / 2);
    const y = Math.max(Math.min(...vs) - high / 2, high / 2);
    const priority = (one.entity > 0 && one.entity === chosen ? 1e9 : 0) + areaOf(one.outline);
    wishes.push({ id: String(index), x, y, width, height: high, gap: 0, centred: true, priority });
  });
  const { boxes } = placeLabels(wishes, frame.width, frame.height);
  for (const [id, box] of boxes) {
    context.fillStyle = "rgba(16, 20, 24, 0.78)";
    context.fillRect(box.x, box.y, box.width, box.height);
    context.fillStyle = "#ffffff";
    context.fillText(nameOf(frame.detections[Number(id)]!), box.x + 3, box.y + 3);
  }
}

function nameOf(one: CameraFrame["detections"][number]): string {
  return `${shorten(one.label, 24)} ${percent(one.score)}`;
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
