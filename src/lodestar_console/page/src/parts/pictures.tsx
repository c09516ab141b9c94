// Stored pictures, small; a click shows one large.

import { useState } from "preact/hooks";

/** A stored picture; the session is needed for those of earlier runs alone. */
export interface Shot {
  keyframe: number;
  session: string;
}

export function keyframeAddress({ keyframe, session }: Shot): string {
  return `/keyframes/${keyframe}.jpg?outline=1${session ? `&session=${encodeURIComponent(session)}` : ""}`;
}

export function shots(keyframes: readonly number[], session = ""): Shot[] {
  return keyframes.map((keyframe) => ({ keyframe, session }));
}

/** A picture as small as a line or two of text; nothing where it is gone. */
export function Thumb({ shot, of }: { shot: Shot; of: string }) {
  const address = keyframeAddress(shot);
  const [gone, setGone] = useState("");
  if (gone === address) return null;
  return <img class="thumb" src={address} alt={`Picture of: ${of}`} loading="lazy" onError={() => setGone(address)} />;
}

/** Pictures in a row. One that is gone leaves no gap. */
export function Pictures({ shots, of }: { shots: readonly Shot[]; of: string }) {
  const [large, setLarge] = useState("");
  const [missing, setMissing] = useState<readonly string[]>([]);
  const shown = shots.filter((shot) => shot.keyframe > 0 && !missing.includes(keyframeAddress(shot)));
  if (shown.length === 0) return null;
  return (
    <div class="pictures">
      {shown.map((shot) => {
        const address = keyframeAddress(shot);
        const name = `Picture ${shot.keyframe} of ${of}`;
        return (
          <button
            key={address}
            class={large === address ? "picture large" : "picture"}
            aria-label={`${name}, ${large === address ? "smaller" : "larger"}`}
            onClick={() => setLarge(large === address ? "" : address)}
          >
            <img src={address} alt={name} loading="lazy" onError={() => setMissing((before) => [...before, address])} />
          </button>
        );
      })}
    </div>
  );
}
