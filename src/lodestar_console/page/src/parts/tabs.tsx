// Tabs on the right: decisions, beliefs, memories, health.

import { useRef } from "preact/hooks";
import { useApp, useStore, useUi } from "../app";
import type { Tab } from "../ui";
import { Beliefs } from "./beliefs";
import { Decisions } from "./decisions";
import { HealthTab } from "./health";
import { Memories } from "./memories";

const TABS: [Tab, string, () => preact.JSX.Element][] = [
  ["decisions", "Decisions", Decisions],
  ["beliefs", "Beliefs", Beliefs],
  ["memories", "Memories", Memories],
  ["health", "Health", HealthTab],
];

export function Tabs() {
  const { ui } = useApp();
  const { tab } = useUi();
  const list = useRef<HTMLDivElement>(null);
  const problems = useStore("health").part("health")?.findings.filter((one) => one.level !== "ok").length ?? 0;
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const at = (TABS.findIndex(([name]) => name === tab) + by + TABS.length) % TABS.length;
    ui.set({ tab: TABS[at]![0] });
    list.current?.querySelectorAll("button")[at]?.focus();
  };
  const Shown = TABS.find(([name]) => name === tab)![2];
  return (
    <section class="tabs" aria-label="Details">
      <div role="tablist" aria-label="Details" ref={list} onKeyDown={onKey}>
        {TABS.map(([name, title]) => (
          <button
            key={name}
            id={`tab-${name}`}
            role="tab"
            aria-selected={tab === name}
            aria-controls={`panel-${name}`}
            tabIndex={tab === name ? 0 : -1}
            onClick={() => ui.set({ tab: name })}
          >
            {title}
            {name === "health" && problems > 0 && <span class="count" aria-label={`${problems} findings`}>{problems}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" class="panel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`} tabIndex={0}>
        <Shown />
      </div>
    </section>
  );
}
