// The axis of the timeline: from time to pixels and back, ticks at round times, zoom about a place.

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
const SHORTEST = 2; // s shown at least
const LONGEST = 90 * 86400;

export interface TimeScale {
  begin: number; // s
  end: number; // s
  width: number; // px
}

export function toPixel({ begin, end, width }: TimeScale, time: number): number {
  return ((time - begin) / (end - begin)) * width;
}

export function toTime({ begin, end, width }: TimeScale, pixel: number): number {
  return begin + (pixel / width) * (end - begin);
}

/** Zoom by a factor above 1 to see less; the time at `pixel` stays there. */
export function zoomed(scale: TimeScale, factor: number, pixel: number): TimeScale {
  const span = Math.min(LONGEST, Math.max(SHORTEST, (scale.end - scale.begin) / factor));
  const at = toTime(scale, pixel);
  const begin = at - (pixel / scale.width) * span;
  return { ...scale, begin, end: begin + span };
}

export function moved(scale: TimeScale, seconds: number): TimeScale {
  return { ...scale, begin: scale.begin + seconds, end: scale.end + seconds };
}

/** Round times within the scale, at least `apart` px from each other. */
export function ticks(scale: TimeScale, apart = 90): number[] {
  const span = scale.end - scale.begin;
  const least = (span / scale.width) * apart;
  const step = STEPS.find((one) => one >= least) ?? Math.ceil(least / 86400) * 86400;
  const found: number[] = [];
  for (let time = Math.ceil(scale.begin / step) * step; time <= scale.end; time += step) found.push(time);
  return found;
}
