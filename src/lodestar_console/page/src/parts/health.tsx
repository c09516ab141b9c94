// The doctor's findings; rates, ages, memory and restarts of each node; its log.

import { useEffect, useState } from "preact/hooks";
import { useStore } from "../app";
import { mebibytes, percent } from "../format";
import type { NodeHealth } from "../protocol";

export function HealthTab() {
  const health = useStore("health").part("health");
  const [node, setNode] = useState<string | null>(null);
  if (!health) return <p class="hint">Nothing was measured yet.</p>;
  const waiting = health.stack.filter((one) => one.state !== "there");
  const memory = health.nodes.reduce((sum, one) => sum + (one.pss ?? 0), 0) / 2 ** 20;
  return (
    <>
      <section>
        <h3>Findings</h3>
        {health.findings.length === 0 && <p class="hint">No finding.</p>}
        <ul class="findings">
          {health.findings.map((one, index) => (
            <li key={index} data-level={one.level}>
              <p><span class="tag">{one.level}</span> <span class="data">{one.text}</span></p>
              {one.do && <p class="hint data">{one.do}</p>}
            </li>
          ))}
        </ul>
      </section>
      {waiting.length > 0 && <p>Not there: {waiting.map((one) => `${one.name} (${one.state})`).join(", ")}</p>}
      <section>
        <h3>Nodes</h3>
        <p class="hint">
          {health.cpu !== null ? `All cores ${percent(health.cpu)} busy` : ""}{memory > 0 ? `${health.cpu !== null ? ", " : ""}${mebibytes(memory)} in all` : ""}
        </p>
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of nodes">
          <table class="nodes">
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col" title="Of its fastest input; events come seldom">Rate, Hz</th>
                <th scope="col" title="Since its newest input">Age, s</th>
                <th scope="col" title="Proportional set size">MiB</th>
              </tr>
            </thead>
            <tbody>
              {health.nodes.map((one) => <Line key={one.name} node={one} open={() => setNode(node === one.name ? null : one.name)} />)}
            </tbody>
          </table>
        </div>
      </section>
      {node && <Log node={node} key={node} />}
    </>
  );
}

function Line({ node, open }: { node: NodeHealth; open(): void }) {
  return (
    <tr data-level={node.alive ? node.level : "error"}>
      <th scope="row">
        <button class="link" onClick={open} title={`${node.status || (node.alive ? "runs" : "is gone")}. Show its log`}>{node.name}</button>
        {node.restarts > 0 && <span class="hint"> started {1 + node.restarts} times</span>}
        {(!node.alive || node.level !== "ok") && <span class="hint data"> {node.alive ? node.status : "gone"}</span>}
      </th>
      <td>{node.rate === null ? "–" : node.rate.toFixed(1)}</td>
      <td>{node.age === null ? "–" : node.age.toFixed(1)}</td>
      <td>{node.pss === null ? "–" : Math.round(node.pss / 2 ** 20)}</td>
    </tr>
  );
}

function Log({ node }: { node: string }) {
  const [text, setText] = useState<string | null>(null);
  const load = (): void => {
    fetch(`/logs/${encodeURIComponent(node)}?lines=200`)
      .then(async (response) => setText(response.ok ? await response.text() : `No log: ${(await response.text()).slice(0, 300)}`))
      .catch(() => setText("No log: the link to the robot is lost."));
  };
  useEffect(load, []);
  return (
    <section>
      <h3>Log of {node} <button onClick={load}>Read again</button></h3>
      <pre class="log-text data" tabIndex={0} aria-label={`Last 200 lines of the log of ${node}`}>{text ?? "Reading …"}</pre>
    </section>
  );
}
