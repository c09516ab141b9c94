// What is believed: the things, to search and correct; and the journal of corrections, to take back.

import { useMemo, useState } from "preact/hooks";
import { type App, useApp, useLink, useStore, useUi } from "../app";
import { ago, clock, percent } from "../format";
import type { Entity, Zone } from "../protocol";

const SHOWN = 100; // rows of a list

export function Beliefs() {
  return (
    <>
      <CorrectBox />
      <Journal />
      <Ways />
      <Changes />
      <Things />
    </>
  );
}

function CorrectBox() {
  const app = useApp();
  const { selected } = useUi();
  const store = useStore("entities");
  const [text, setText] = useState("");
  const entity = selected?.kind === "entity" ? store.rows("entities").get(selected.id as number) : undefined;
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    const reply = await app.request("correct", { text: text.trim(), entity: entity?.id ?? 0 });
    if (!reply.ok) return;
    app.ui.say(reply.text || "Corrected.");
    setText("");
  };
  return (
    <form class="line-form" onSubmit={send}>
      <label class="grow">
        Correct {entity ? <>the <span class="data">{entity.label}</span> ({entity.id})</> : "what the robot faces"}
        <input value={text} maxLength={300} placeholder="it is gone" onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button class="primary" type="submit" disabled={!text.trim()}>Correct</button>
    </form>
  );
}

function Journal() {
  const app = useApp();
  const entries = [...useStore("beliefs").rows("beliefs").values()].reverse();
  const undo = async (entry: number): Promise<void> => {
    const reply = await app.request("undo", { entry });
    if (reply.ok) app.ui.say(reply.text || `Entry ${entry} was taken back.`);
  };
  return (
    <section>
      <h3>Journal</h3>
      {entries.length === 0 && <p class="hint">Nothing was corrected yet.</p>}
      <ol class="list">
        {entries.slice(0, SHOWN).map((entry) => (
          <li key={entry.id} class={entry.undone ? "entry undone" : "entry"}>
            <time>{clock(entry.at)}</time>
            <span class="what data">{entry.text}<span class="hint"> {entry.by}{entry.undone ? ", taken back" : ""}</span></span>
            {!entry.undone && entry.entry > 0 && <button aria-label={`Undo entry ${entry.entry}`} onClick={() => undo(entry.entry)}>Undo</button>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Take a zone away, or open a closed way. */
export async function removeZone(app: App, zone: Zone): Promise<void> {
  const { outline, text } = zone;
  const reply =
    zone.kind === "keep_out"
      ? await app.request("zone", { outline, text, remove: true })
      : await app.request("close_way", { start: outline[0]!, end: outline[1]!, open: true });
  if (reply.ok) app.ui.say(reply.text || (zone.kind === "keep_out" ? "The zone is removed." : "The way counts as open."));
}

/** Zones to keep out of, and closed ways with what opens them. */
function Ways() {
  const app = useApp();
  const zones = useStore("zones").part("zones") ?? [];
  if (zones.length === 0) return null;
  return (
    <section>
      <h3>Closed ways and zones</h3>
      <ol class="list">
        {zones.map((zone) => (
          <li key={zone.id} class="entry">
            <span class="what data">{zone.text || (zone.kind === "keep_out" ? "keep out" : "closed way")}</span>
            {zone.expires !== null && <span class="hint">until {clock(zone.expires)}</span>}
            <button onClick={() => app.ui.set({ selected: { kind: "zone", id: zone.id }, lit: { text: zone.text, places: zone.outline, entities: [] }, panel: "map" })}>Show</button>
            {(zone.laid || zone.kind === "closed_way") && <button disabled={!app.mayCommand} onClick={() => void removeZone(app, zone)}>{zone.kind === "keep_out" ? "Remove" : "Open"}</button>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Changes() {
  const app = useApp();
  const changes = useStore("changes").part("changes");
  if (!changes?.against) return null;
  return (
    <section>
      <h3>Changes against <span class="data">{changes.against}</span></h3>
      {changes.changes.length === 0 && <p class="hint">Nothing has changed, as far as was seen.</p>}
      <ol class="list">
        {changes.changes.slice(0, SHOWN).map((change, index) => (
          <li key={index} class="entry">
            <span class="tag">{change.kind}</span>
            <span class="what data">{change.text}</span>
            {change.x !== null && change.y !== null && (
              <button onClick={() => app.ui.set({ lit: { text: change.text, places: [[change.x!, change.y!]], entities: change.entities }, panel: "map" })}>Show</button>
            )}
          </li>
        ))}
      </ol>
      {changes.changes.length > SHOWN && <p class="hint">{changes.changes.length - SHOWN} more.</p>}
    </section>
  );
}

function Things() {
  const app = useApp();
  const { selected } = useUi();
  const store = useStore("entities", "rooms");
  const now = useLink().now();
  const [words, setWords] = useState("");
  const named = store.part("rooms");
  const { rows, revision } = store.tables.entities;
  const rooms = useMemo(() => new Map(named?.map((room) => [room.id, room.name])), [named]);
  const found = useMemo(() => {
    const fit = [...rows.values()].filter((entity) => fits(entity, rooms.get(entity.room) ?? "", words.trim()));
    return fit.sort((one, other) => other.last_seen - one.last_seen || one.id - other.id);
  }, [revision, rooms, words]);
  return (
    <section>
      <h3>Things ({rows.size})</h3>
      <label class="search">
        <span class="visually-hidden">Search things</span>
        <input type="search" value={words} placeholder="Search by name, room or number" onInput={(event) => setWords(event.currentTarget.value)} />
      </label>
      <ol class="list things">
        {found.slice(0, SHOWN).map((entity) => {
          const chosen = selected?.kind === "entity" && selected.id === entity.id;
          return (
            <li key={entity.id}>
              <button
                class="row"
                aria-pressed={chosen}
                onClick={() => app.ui.set({ selected: chosen ? null : { kind: "entity", id: entity.id }, panel: "map" })}
              >
                <span class="what"><strong class="data">{entity.label}</strong> <span class="hint">{rooms.get(entity.room) ?? ""}</span></span>
                <span class="hint">{entity.state === "active" ? percent(entity.confidence) : entity.state}</span>
                <span class="hint age">{ago(now - entity.last_seen)}</span>
              </button>
            </li>
          );
        })}
      </ol>
      {found.length > SHOWN && <p class="hint">{found.length - SHOWN} more: search for them.</p>}
      {found.length === 0 && words.trim() && <p class="hint">Nothing of that name was seen.</p>}
    </section>
  );
}

function fits(entity: Entity, room: string, words: string): boolean {
  if (!words) return true;
  const text = `${entity.label} ${entity.attributes.join(" ")} ${entity.caption} ${room} ${entity.id}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
