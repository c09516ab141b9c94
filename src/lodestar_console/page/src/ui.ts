// What the operator has chosen to see. Nothing here is known to the robot.

import type { Point2, Pose2 } from "./geometry";

export type Tab = "decisions" | "beliefs" | "memories" | "health";
export type Panel = "map" | "talk" | "camera" | "details" | "timeline"; // one at a time on a phone
export type Tool = "select" | "point" | "room" | "way" | "zone";
export type Theme = "auto" | "light" | "dark";
export type Layer = "rooms" | "objects" | "frontiers" | "paths" | "zones" | "looks" | "memories" | "changes";

export interface Selection {
  kind: "entity" | "room" | "frontier" | "zone";
  id: number | string;
}

/** Places that an answer or a decision speaks of. */
export interface Lit {
  text: string;
  places: Point2[];
  entities: number[];
}

/** A moment of the run that the page shows instead of now. */
export interface Moment {
  time: number;
  pose: Pose2 | null;
  decision: string;
  keyframe: number;
  session: string; // of the keyframe, where it is of an earlier run
  text: string;
}

export interface Notice {
  text: string;
  bad: boolean;
  lease: boolean; // somebody else commands
}

export interface UiState {
  solid: boolean;
  tab: Tab;
  panel: Panel;
  tool: Tool;
  places: readonly Point2[]; // that were pointed at with the tool
  theme: Theme;
  layers: Record<Layer, boolean>;
  byInstance: boolean;
  follow: boolean;
  selected: Selection | null;
  lit: Lit | null;
  moment: Moment | null;
  decision: string | null; // the decision that is open
  notice: Notice | null;
}

const THEME_KEY = "lodestar-theme";

function keptTheme(): Theme {
  try {
    const kept = localStorage.getItem(THEME_KEY);
    return kept === "light" || kept === "dark" ? kept : "auto";
  } catch {
    return "auto"; // storage is switched off
  }
}

export class Ui {
  state: UiState = {
    solid: false,
    tab: "decisions",
    panel: "map",
    tool: "select",
    places: [],
    theme: keptTheme(),
    layers: { rooms: true, objects: true, frontiers: true, paths: true, zones: true, looks: false, memories: false, changes: true },
    byInstance: false,
    follow: false,
    selected: null,
    lit: null,
    moment: null,
    decision: null,
    notice: null,
  };
  private readonly listeners = new Set<() => void>();
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    this.dark.addEventListener("change", () => this.set({}));
    this.paint();
  }

  get darkNow(): boolean {
    return this.state.theme === "auto" ? this.dark.matches : this.state.theme === "dark";
  }

  set(change: Partial<UiState>): void {
    this.state = { ...this.state, ...change };
    this.paint();
    this.listeners.forEach((listener) => listener());
  }

  setTheme(theme: Theme): void {
    try {
      localStorage.setItem(THEME_KEY, theme);
    } catch {
      // The choice lasts as long as the page.
    }
    this.set({ theme });
  }

  say(text: string, bad = false, lease = false): void {
    this.set({ notice: { text, bad, lease } });
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private paint(): void {
    document.documentElement.dataset.theme = this.darkNow ? "dark" : "light";
  }
}
