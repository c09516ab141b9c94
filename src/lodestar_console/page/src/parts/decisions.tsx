// Each decision: the arms with their values and reasons, the trace with its checks, what came of it, and why.

import { useEffect, useRef, useState } from "preact/hooks";
import { useApp, useDetails, useStore, useUi } from "../app";
import { clock, purpose, withoutArm } from "../format";
import type { Arm, Decision } from "../protocol";
import { showMoment } from "./moment";
import { Pictures, shots } from "./pictures";

const SHOWN = 50; // decisions at first, and more at each press

export function Decisions() {
  const app = useApp();
  const { decision } = useUi();
  const [most, setMost] = useState(SHOWN);
  const rows = [...useStore("decisions").rows("decisions").values()].reverse();
  if (rows.length === 0) return <p class="hint">No decision yet. Each one is shown here with the reasons for and against.</p>;
  const opened = rows.findIndex((row) => row.id === decision);
  return (
    <ol class="list">
      {rows.slice(0, Math.max(most, opened + 1)).map((row) => (
        <li key={row.id}>
          <Row
            decision={row}
            open={row.id === decision}
            toggle={() => app.ui.set({ decision: row.id === decision ? null : row.id })}
          />
        </li>
      ))}
      {rows.length > most && <li><button onClick={() => setMost(most + SHOWN)}>Older ones ({rows.length - most})</button></li>}
    </ol>
  );
}

function Row({ decision, open, toggle }: { decision: Decision; open: boolean; toggle(): void }) {
  const line = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (open) line.current?.scrollIntoView({ block: "nearest" });
  }, [open]);
  const outcome = decision.failure ? "failed" : decision.outcome;
  return (
    <article class={open ? "decision open" : "decision"}>
      <button class="row" ref={line} aria-expanded={open} onClick={toggle}>
        <time>{clock(decision.at)}</time>
        <span class="what"><strong>{purpose(decision.chosen) || "none"}</strong> <span class="data">{withoutArm(decision.chosen, decision.explanation)}</span></span>
        <span class="outcome" data-outcome={outcome}>{outcome}</span>
      </button>
      {open && <Whole decision={decision} />}
    </article>
  );
}

function Whole({ decision }: { decision: Decision }) {
  const app = useApp();
  const [asked, setAsked] = useState(false);
  const details = useDetails("decision", asked && decision.why.length === 0 ? decision.id : "");
  const seen = [...useStore("events").rows("events").values()].find((event) => event.decision === decision.id && event.keyframe > 0)?.keyframe ?? 0;
  const goal = decision.arms.find((arm) => arm.name === decision.chosen)?.goal;
  const show = (): void =>
    app.ui.set({
      lit: { text: decision.explanation, places: goal ? [[goal[0], goal[1]]] : [], entities: decision.entities },
      panel: "map",
    });
  return (
    <div class="whole">
      <p class="hint">For <span class="data">“{decision.directive}”</span></p>
      <Arms arms={decision.arms} chosen={decision.chosen} />
      {decision.trace && (
        <>
          <p class="data">{decision.trace.text}</p>
          <ul class="checks">
            {decision.trace.checks.map((check, index) => (
              <li key={index}><span class="tag">{check.kind}</span> <span class="data">{check.text}</span></li>
            ))}
          </ul>
        </>
      )}
      {decision.reward !== null && <p class="hint">Reward {decision.reward.toFixed(2)} (no unit)</p>}
      {decision.failure && (
        <dl class="failure">
          <dt>Failed</dt>
          <dd class="data">{decision.failure.text}</dd>
          {decision.failure.diagnosis && <dt>Diagnosis</dt>}
          {decision.failure.diagnosis && <dd class="data">{decision.failure.diagnosis}</dd>}
          {decision.failure.recovery && <dt>Recovery</dt>}
          {decision.failure.recovery && <dd class="data">{decision.failure.recovery}</dd>}
        </dl>
      )}
      <Pictures shots={shots([...new Set([seen, ...decision.keyframes])].slice(0, 4))} of="this decision" />
      <div class="actions">
        <button aria-expanded={asked} onClick={() => setAsked(!asked)}>Why?</button>
        <button onClick={() => void showMoment(app, { at: decision.at, text: decision.explanation, decision: decision.id, keyframe: seen })}>Go to then</button>
        {(goal || decision.entities.length > 0) && <button onClick={show}>Show on the map</button>}
      </div>
      {asked && <pre class="why data">{(decision.why.length > 0 ? decision.why : details?.lines ?? [decision.explanation]).join("\n")}</pre>}
    </div>
  );
}

function Arms({ arms, chosen }: { arms: Arm[]; chosen: string }) {
  const ordered = [...arms].sort((one, other) => Number(other.name === chosen) - Number(one.name === chosen) || (other.bound ?? -9) - (one.bound ?? -9));
  const number = (value: number | null): string => (value === null ? "–" : value.toFixed(2));
  return (
    <table class="arms">
      <thead>
        <tr>
          <th scope="col">Choice</th>
          <th scope="col" title="Expected reward, no unit">Value</th>
          <th scope="col" title="Upper confidence bound of the reward, no unit">Bound</th>
          <th scope="col" title="Probability of being picked">Picked</th>
        </tr>
      </thead>
      {ordered.map((arm) => (
        <tbody key={arm.name} class={arm.name === chosen ? "chosen" : arm.admissible ? "" : "refused"}>
          <tr>
            <th scope="row">{purpose(arm.name)}</th>
            <td>{arm.admissible ? number(arm.value) : "–"}</td>
            <td>{arm.admissible ? number(arm.bound) : "–"}</td>
            <td>{arm.propensity === null ? "–" : `${Math.round(100 * arm.propensity)} %`}</td>
          </tr>
          {arm.reason && <tr><td class="reason data" colSpan={4}>{arm.admissible ? "" : "Not possible: "}{arm.reason}</td></tr>}
        </tbody>
      ))}
    </table>
  );
}
