// The page: map in the middle, camera and conversation left, tabs right, timeline below, state and STOP on top.

import { render } from "preact";
import { App, AppContext, useApp, useStore, useUi } from "./app";
import { MapPanel } from "./map/map";
import { Camera } from "./parts/camera";
import { Conversation } from "./parts/conversation";
import { NoticeLine } from "./parts/notice";
import { Tabs } from "./parts/tabs";
import { Timeline } from "./parts/timeline";
import { LinkLost, TopBar } from "./parts/topbar";
import type { Panel } from "./ui";

const PANELS: [Panel, string][] = [
  ["map", "Map"],
  ["talk", "Talk"],
  ["camera", "Camera"],
  ["details", "Details"],
  ["timeline", "Time"],
];

function Page() {
  const { ui } = useApp();
  const { panel } = useUi();
  const question = useStore("directive").part("directive")?.question;
  return (
    <div class={`page show-${panel}`}>
      <TopBar />
      <LinkLost />
      <main>
        <div class="left">
          <Camera />
          <Conversation />
        </div>
        <MapPanel />
        <Tabs />
        <Timeline />
        <NoticeLine />
      </main>
      <nav class="panels" aria-label="Parts of the page">
        {PANELS.map(([name, title]) => (
          <button key={name} aria-pressed={panel === name} onClick={() => ui.set({ panel: name })}>
            {title}{name === "talk" && question && <span class="count" aria-label="The robot asks something">?</span>}
          </button>
        ))}
      </nav>
    </div>
  );
}

/** Menus close when something else is touched, and a file that misses its place does not replace the page. */
function listenEverywhere(): void {
  document.addEventListener("pointerdown", (event) => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
      if (!menu.contains(event.target as Node)) menu.open = false;
    }
  });
  for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());
}

listenEverywhere();
const app = new App();
// For the tests in a browser, and for whoever looks into a page by its console: reading only.
Object.defineProperty(window, "lodestar", { value: app });
render(
  <AppContext.Provider value={app}>
    <Page />
  </AppContext.Provider>,
  document.getElementById("page")!,
);
app.start();
