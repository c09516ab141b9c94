// Colours of what canvases draw, read from the style sheet so that both follow one theme.

export type Rgb = [number, number, number];

export interface Palette {
  name: string;
  text: string;
  muted: string;
  surface: string;
  line: string;
  accent: string;
  warn: string;
  danger: string;
  halo: string;
  unknown: Rgb;
  free: Rgb;
  occupied: Rgb;
}

function rgb(text: string): Rgb {
  const digits = text.trim().replace("#", "");
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16)) as Rgb;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    name: read("theme"),
    text: read("text"),
    muted: read("muted"),
    surface: read("surface"),
    line: read("line"),
    accent: read("accent"),
    warn: read("warn"),
    danger: read("danger"),
    halo: read("halo"),
    unknown: rgb(read("unknown")),
    free: rgb(read("free")),
    occupied: rgb(read("occupied")),
  };
}

/** A colour of its own for an instance: hues by the golden angle, so that neighbours in number differ. */
export function instanceColor(instance: number): Rgb {
  if (instance === 0) return [150, 155, 160];
  const hue = (instance * 137.508) % 360;
  const channel = (shift: number): number => {
    const at = (shift + hue / 30) % 12;
    return Math.round(255 * (0.58 - 0.36 * Math.max(-1, Math.min(at - 3, 9 - at, 1)) * 0.75));
  };
  return [channel(0), channel(8), channel(4)];
}
