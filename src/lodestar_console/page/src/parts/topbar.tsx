// State, battery, age of the link, who commands, and STOP; always in sight.

import { useEffect } from "preact/hooks";
import { useApp, useLink, useStop, useStore, useUi } from "../app";
import { clock, degrees, duration, percent, speed, words } from "../format";
import type { Robot } from "../protocol";
import { gateIsSilent, holdersText, stopText } from "../stop";
import type { Theme } from "../ui";

export function TopBar() {
  const store = useStore("hello", "robot", "directive");
  const robot = store.part("robot");
  const directive = store.part("directive");
  const { state: link } = useLink();
  return (
    <header class="top">
      <h1>{store.hello?.robot || "Lodestar"}</h1>
      <span class="chip" data-state={robot?.held ? "held" : robot?.state ?? ""}>{stateText(robot, link.lost)}</span>
      <p class="doing" title={directive?.text}>{directive?.running ? directive.understood || directive.text : ""}</p>
      <dl class="readings">
        <Motion robot={robot} />
        <Battery robot={robot} />
        <LinkAge />
      </dl>
      <Command />
      <ThemeSwitch />
      <Stop />
    </header>
  );
}

function stateText(robot: Robot | undefined, lost: boolean): string {
  if (!robot) return "No word yet";
  if (robot.held && lost) return "Held when last heard";
  if (robot.held && gateIsSilent(robot)) return "Held, no word of the gate";
  if (robot.held) return robot.stands ? "Stopped, stands" : "Stopping";
  const state = words(robot.state);
  return state ? state[0]!.toUpperCase() + state.slice(1) : robot.stands ? "Stands" : "Moves";
}

function Motion({ robot }: { robot: Robot | undefined }) {
  if (robot?.speed == null) return null;
  const turns = Math.abs(robot.turn_rate ?? 0) > 0.05;
  return (
    <div class="motion">
      <dt>Speed</dt>
      <dd>{speed(robot.speed)}{turns ? `, ${degrees(Math.abs(robot.turn_rate!))}/s` : ""}</dd>
    </div>
  );
}

function Battery({ robot }: { robot: Robot | undefined }) {
  const battery = robot?.battery;
  if (battery?.share == null && battery?.volts == null) return null;
  const low = battery.share != null && battery.share < 0.2;
  return (
    <div data-bad={low}>
      <dt>Battery</dt>
      <dd>{battery.share != null ? percent(battery.share) : `${battery.volts!.toFixed(1)} V`}</dd>
    </div>
  );
}

function LinkAge() {
  const { state } = useLink();
  const text = state.lost ? `lost ${duration(state.age)}` : state.delay === null ? "…" : duration(state.delay);
  return (
    <div data-bad={state.lost}>
      <dt>Link</dt>
      <dd>{text}</dd>
    </div>
  );
}

/** A strip over the whole page while the link is lost. */
export function LinkLost() {
  const { state } = useLink();
  const app = useApp();
  const store = useStore("robot", "hello");
  const robot = store.part("robot");
  if (!state.lost || (store.hello === null && !state.ended && state.age < 1)) return null;
  if (state.ended) {
    return (
      <div class="strip" role="alert">
        <strong>Your session has ended.</strong> Make a new link on the robot's computer (python -m lodestar_console.link) and open it. STOP does not
        work here any more: use the robot's own.
      </div>
    );
  }
  return (
    <div class="strip" role="alert">
      <strong>Link lost</strong> for {duration(state.age)}. {robot ? `What you see is from ${clock(robot.stamp)}. ` : ""}
      {app.stop.state.connected ? "STOP still has its own link." : "STOP is sent as soon as there is a link again; the robot's own stop works now."}
    </div>
  );
}

function Command() {
  const app = useApp();
  const store = useStore("lease", "hello", "operators");
  const lease = store.part("lease")?.lease;
  const there = store.part("operators");
  const people = there?.people ?? [];
  const holder = app.commands ? "You" : lease ? lease.holder : "Nobody";
  const change = (action: "take" | "release") => app.request("lease", { action });
  return (
    <div class="command">
      <details class="menu">
        <summary>
          {app.mayCommand ? <>{holder}<span class="wide">&nbsp;{app.commands ? "command" : "commands"}</span></> : "You look on"}
          {people.length > 1 && <span class="wide">, {people.length} here</span>}
        </summary>
        <div class="sheet right">
          <ul>
            {people.map((one, index) => (
              <li key={index}><strong class="data">{one.name}</strong> <span class="hint">{one.agent ? "agent, " : ""}role {one.role}, since {clock(one.since)}</span></li>
            ))}
          </ul>
          {app.mayCommand && <button onClick={() => change(app.commands ? "release" : "take")}>{app.commands ? "Hand over command" : "Take command"}</button>}
          {app.mayCommand && there?.agents.map((agent) => (
            <label key={agent}>
              <input
                type="checkbox"
                checked={there.offered.includes(agent)}
                onChange={(event) => app.request("offer", { agent, offered: event.currentTarget.checked })}
              />
              <span class="data">{agent}</span> may take command
            </label>
          ))}
        </div>
      </details>
    </div>
  );
}

const THEMES: Record<Theme, [Theme, string]> = {
  auto: ["light", "Auto"],
  light: ["dark", "Light"],
  dark: ["auto", "Dark"],
};

function ThemeSwitch() {
  const { ui } = useApp();
  const { theme } = useUi();
  const [next, name] = THEMES[theme];
  return (
    <button class="theme" aria-label={`Colours: ${name}. Change to ${THEMES[next][1]}`} onClick={() => ui.setTheme(next)}>{name}</button>
  );
}

function Stop() {
  const app = useApp();
  const { state } = useStop();
  const robot = useStore("robot").part("robot");
  const { state: link } = useLink();
  useEffect(() => {
    const escape = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.repeat) app.stop.press();
    };
    document.addEventListener("keydown", escape, { capture: true });
    return () => document.removeEventListener("keydown", escape, { capture: true });
  }, []);
  const held = robot?.held ?? false;
  const holds = robot?.holds ?? [];
  const why = !app.mayCommand ? "Your role may not resume" : holds.length ? "" : "The motion gate has not told what holds the robot";
  useEffect(() => {
    if (!held) app.stop.noLongerHeld();
  }, [held]);
  const resume = (): void => {
    app.stop.release();
    void app.request("resume", { numbers: holds.map((one) => one.number) });
  };
  return (
    <div class="stop-group">
      <p class="stop-told" role="status">{[state.text || stopText(state, robot, link.lost), holdersText(robot)].filter(Boolean).join(". ")}</p>
      {(held || holds.length > 0) && <button class="resume" disabled={why !== ""} title={why} onClick={resume}>Resume</button>}
      <button class="stop" aria-keyshortcuts="Escape" title="Stop the robot (Escape)" onClick={() => app.stop.press()}>STOP</button>
    </div>
  );
}
