// The camera's picture with what was detected in it, and what the vocabulary can name now; or the picture of a moment.

import { useEffect, useRef, useState } from "preact/hooks";
import { useApp, useStore, useUi, useView } from "../app";
import { clock, percent, shorten } from "../format";
import type { CameraFrame } from "../frames";
import { instanceColor } from "../map/palette";
import { keyframeAddress } from "./pictures";

export function Camera() {
  const app = useApp();
  const { moment } = useUi();
  return (
    <section class="camera" aria-label="Camera">
      {moment && moment.keyframe > 0 ? (
        <Then key={moment.keyframe} keyframe={moment.keyframe} time={moment.time} />
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

function Then({ keyframe, time }: { keyframe: number; time: number }) {
  const [gone, setGone] = useState(false);
  if (gone) return <div class="no-picture"><p>No picture of then is kept.</p></div>;
  const address = keyframeAddress({ keyframe, session: "" });
  return <figure><img src={address} alt={`What the robot saw at ${clock(time)}`} onError={() => setGone(true)} /></figure>;
}

function Live() {
  const view = useView("camera");
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = view.camera;
  useEffect(() => {
    if (!frame || !canvas.current) return undefined;
    let newer = false;
    void createImageBitmap(frame.picture).then(
      (picture) => {
        if (!newer && canvas.current) drawCamera(canvas.current, picture, frame);
        picture.close();
      },
      () => undefined, // a picture that cannot be read: the next one follows
    );
    return () => {
      newer = true;
    };
  }, [frame]);
  if (!frame) return <div class="no-picture"><p>No picture yet.</p></div>;
  const seen = frame.detections.map((one) => one.label);
  return (
    <figure>
      <canvas ref={canvas} role="img" aria-label={seen.length > 0 ? `In view: ${seen.join(", ")}` : "Nothing is detected in view"} />
    </figure>
  );
}

function drawCamera(canvas: HTMLCanvasElement, picture: ImageBitmap, frame: CameraFrame): void {
  canvas.width = frame.width;
  canvas.height = frame.height;
  const context = canvas.getContext("2d")!;
  context.drawImage(picture, 0, 0, frame.width, frame.height);
  const size = Math.max(11, Math.round(frame.height / 32));
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.textBaseline = "top";
  context.lineWidth = Math.max(1.5, frame.height / 240);
  for (const one of frame.detections) {
    if (one.outline.length < 2) continue;
    const color = `rgb(${instanceColor(one.entity || one.label.length + 1).join()})`;
    context.strokeStyle = color;
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
