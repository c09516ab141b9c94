// Stored pictures, small; a click opens one in full beside the camera's place.

import { useState } from "preact/hooks";

export function keyframeAddress(keyframe: number): string {
  return `/keyframes/${keyframe}.jpg?outline=1`;
}

export function Pictures({ keyframes, of }: { keyframes: readonly number[]; of: string }) {
  const [large, setLarge] = useState<number | null>(null);
  const [missing, setMissing] = useState<readonly number[]>([]);
  const shown = keyframes.filter((keyframe) => keyframe > 0 && !missing.includes(keyframe));
  if (shown.length === 0) return null;
  return (
    <div class="pictures">
      {shown.map((keyframe) => (
        <button
          key={keyframe}
          class={large === keyframe ? "picture large" : "picture"}
          aria-label={`Picture ${keyframe} of ${of}, ${large === keyframe ? "smaller" : "larger"}`}
          onClick={() => setLarge(large === keyframe ? null : keyframe)}
        >
          <img
            src={keyframeAddress(keyframe)}
            alt={`Picture ${keyframe} of ${of}`}
            loading="lazy"
            onError={() => setMissing((before) => [...before, keyframe])}
          />
        </button>
      ))}
    </div>
  );
}
