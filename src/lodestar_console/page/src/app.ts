// What every part of the page shares: the robot's state, the links, and what the operator has chosen to see.

import { createContext } from "preact";
import { useContext, useEffect, useReducer, useState } from "preact/hooks";
import { type Content, type RequestName, StateLink } from "./link";
import type { Details, DetailsValue, Reply } from "./protocol";
import { StopLink } from "./stop";
import { Store, type Topic } from "./store";
import { Ui, type UiState } from "./ui";
import { ViewLink, type ViewTopic } from "./view";

/** Run before the next frame, or within a quarter of a second where no frame is drawn, as in a hidden tab. */
export function soon(run: () => void): void {
  let done = false;
  const once = (): void => {
    if (done) return;
    done = true;
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, 250);
}

export class App {
  readonly store = new Store(soon);
  readonly link = new StateLink(this.store);
  readonly stop = new StopLink();
  readonly view = new ViewLink();
  readonly ui = new Ui();
  /** Frames of the map that were drawn, and how long the last took in this thread (ms). */
  readonly drawing = { frames: 0, last: 0 };

  start(): void {
    this.link.start();
    this.stop.start();
    this.view.start();
  }

  /** Ask the robot for something, and say what came of it where it was refused. */
  async request<Name extends RequestName>(type: Name, content: Content<Name>): Promise<Reply> {
    const reply = await this.link.request(type, content);
    if (!reply.ok) this.ui.say(reply.text || "The robot refused, and gave no reason.", true, reply.code === "no_lease");
    return reply;
  }

  /** Whether this page may command the robot as far as its role goes. */
  get mayCommand(): boolean {
    return this.store.hello?.role === "command";
  }

  get commands(): boolean {
    const lease = this.store.part("lease")?.lease;
    return lease != null && lease.holder === this.store.hello?.name;
  }
}

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error("no app is given to this part of the page");
  return app;
}

function useListener(subscribe: (listener: () => void) => () => void, key: string): void {
  const [, update] = useReducer((count: number) => count + 1, 0);
  useEffect(() => subscribe(() => update(undefined)), [key]);
}

/** Draw this component again after changes of the topics. */
export function useStore(...topics: Topic[]): Store {
  const { store } = useApp();
  useListener((listener) => store.subscribe(topics, listener), topics.join());
  return store;
}

/** What the robot tells of a thing, a decision, a room or a memory; null until it has, or where `of` is empty. */
export function useDetails(kind: Details["kind"], of: string): DetailsValue | null {
  const { link } = useApp();
  const [told, setTold] = useState<DetailsValue | null>(null);
  useEffect(() => {
    let wanted = of !== "";
    setTold(null);
    if (wanted) void link.request("details", { kind, of }).then((reply) => wanted && reply.ok && setTold(reply.value as DetailsValue | null));
    return () => {
      wanted = false;
    };
  }, [kind, of]);
  return told;
}

export function useUi(): UiState {
  const { ui } = useApp();
  useListener((listener) => ui.subscribe(listener), "ui");
  return ui.state;
}

export function useLink(): StateLink {
  const { link } = useApp();
  useListener((listener) => link.subscribe(listener), "link");
  return link;
}

export function useStop(): StopLink {
  const { stop } = useApp();
  useListener((listener) => stop.subscribe(listener), "stop");
  return stop;
}

export function useView(topic: ViewTopic): ViewLink {
  const { view } = useApp();
  useListener((listener) => view.subscribe(topic, listener), topic);
  return view;
}
