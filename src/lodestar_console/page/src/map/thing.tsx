// What is known of the thing that is selected: since when, how sure, relations, pictures; and how to correct it.

import { useEffect, useRef, useState } from "preact/hooks";
import { useApp, useDetails, useLink, useStore, useUi } from "../app";
import { ago, clock, metres, percent, place } from "../format";
import { areaOf } from "../geometry";
import { removeZone } from "../parts/beliefs";
import type { Entity, Frontier, Room, Zone } from "../protocol";
import { Pictures, shots } from "../parts/pictures";

export function ThingCard() {
  const app = useApp();
  const { selected } = useUi();
  const store = useStore("entities", "rooms", "frontiers", "zones");
  if (!selected) return null;
  const close = (): void => app.ui.set({ selected: null });
  const entity = selected.kind === "entity" ? store.rows("entities").get(selected.id as number) : undefined;
  const room = selected.kind === "room" ? store.part("rooms")?.find((one) => one.id === selected.id) : undefined;
  const frontier = selected.kind === "frontier" ? store.part("frontiers")?.find((one) => one.id === selected.id) : undefined;
  const zone = selected.kind === "zone" ? store.part("zones")?.find((one) => one.id === selected.id) : undefined;
  const title = entity?.label ?? room?.name ?? zone?.text ?? (frontier ? `Frontier ${frontier.id}` : "No longer on the map");
  return (
    <aside class="card thing" aria-label={`Selected: ${title}`}>
      <header>
        <h2>{title || "Room without a name"}</h2>
        <button class="square" aria-label="Close" onClick={close}>×</button>
      </header>
      {entity && <EntityFacts entity={entity} rooms={store.part("rooms") ?? []} key={entity.id} />}
      {room && <RoomFacts room={room} />}
      {zone && <ZoneFacts zone={zone} />}
      {frontier && <FrontierFacts frontier={frontier} />}
    </aside>
  );
}

const STATES = { active: "there", uncertain: "maybe no longer there", archived: "gone" };

function EntityFacts({ entity, rooms }: { entity: Entity; rooms: Room[] }) {
  const app = useApp();
  const now = useLink().now();
  const [words, setWords] = useState<string | null>(null);
  const details = useDetails("entity", String(entity.id));
  const pictures = entity.keyframes.length > 0 ? entity.keyframes : details?.keyframes ?? [];
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [words === null]);
  const [low, high] = entity.box;
  const room = rooms.find((one) => one.id === entity.room);
  const correct = async (text: string): Promise<void> => {
    const reply = await app.request("correct", { text, entity: entity.id });
    if (!reply.ok) return;
    app.ui.say(reply.text || "Corrected.");
    setWords(null);
  };
  return (
    <>
      {entity.caption && <p class="data">{entity.caption}</p>}
      <dl>
        <dt>State</dt>
        <dd>{STATES[entity.state]}, {percent(entity.confidence)} sure{entity.moves ? ", moves" : ""}</dd>
        <dt>Seen</dt>
        <dd>{ago(now - entity.last_seen)}, first {ago(now - entity.first_seen)}</dd>
        <dt>Where</dt>
        <dd>{room?.name ? `${room.name}, ` : ""}{place(entity.mean[0], entity.mean[1])}</dd>
        <dt>Size</dt>
        <dd>{metres(high[0] - low[0])} × {metres(high[1] - low[1])} × {metres(high[2] - low[2])} high</dd>
        {entity.attributes.length > 0 && <dt>Looks</dt>}
        {entity.attributes.length > 0 && <dd class="data">{entity.attributes.join(", ")}</dd>}
        {entity.relations.length > 0 && <dt>Relations</dt>}
        {entity.relations.length > 0 && <dd class="data">{entity.relations.join("; ")}</dd>}
        {entity.stated.length > 0 && <dt>Told by people</dt>}
        {entity.stated.length > 0 && <dd class="data">{entity.stated.join("; ")}</dd>}
        <dt>Number</dt>
        <dd>{entity.id}</dd>
      </dl>
      {details && details.lines.length > 0 && (
        <details class="more">
          <summary>What is known</summary>
          <ul>{details.lines.map((line, index) => <li key={index} class="data">{line}</li>)}</ul>
        </details>
      )}
      <Pictures shots={shots(pictures.slice(-4))} of={entity.label} />
      {words === null ? (
        <div class="actions">
          <button disabled={!app.mayCommand} onClick={() => correct("it is gone")}>It is gone</button>
          <button disabled={!app.mayCommand} onClick={() => setWords("")}>Correct</button>
        </div>
      ) : (
        <form
          class="actions"
          onSubmit={(event) => {
            event.preventDefault();
            if (words.trim()) void correct(words.trim());
          }}
        >
          <label class="grow">
            What is so?
            <input ref={field} value={words} maxLength={300} placeholder="that is a stool" onInput={(event) => setWords(event.currentTarget.value)} />
          </label>
          <button class="primary" type="submit" disabled={!words.trim()}>Correct</button>
          <button type="button" onClick={() => setWords(null)}>Cancel</button>
        </form>
      )}
    </>
  );
}

function RoomFacts({ room }: { room: Room }) {
  return (
    <dl>
      <dt>Name</dt>
      <dd>{room.named ? "given by a person" : `guessed, ${percent(room.weight)} sure`}</dd>
      <dt>Area</dt>
      <dd>{room.area.toFixed(1)} m²</dd>
      {room.contents.length > 0 && <dt>Holds</dt>}
      {room.contents.length > 0 && <dd class="data">{room.contents.join(", ")}</dd>}
      {room.plates.length > 0 && <dt>Signs</dt>}
      {room.plates.length > 0 && <dd class="data">{room.plates.join(", ")}</dd>}
    </dl>
  );
}

function ZoneFacts({ zone }: { zone: Zone }) {
  const app = useApp();
  const area = zone.kind === "keep_out";
  return (
    <>
      <dl>
        <dt>What</dt>
        <dd>{!area ? "a way that counts as closed" : zone.laid ? "an area that an operator has closed" : "closed by a directive or by the fence"}</dd>
        {area && <dt>Area</dt>}
        {area && <dd>{areaOf(zone.outline).toFixed(1)} m²</dd>}
        <dt>Until</dt>
        <dd>{zone.expires === null ? (zone.laid ? "it is removed" : area ? "the directive ends" : "it is opened") : clock(zone.expires)}</dd>
      </dl>
      {(zone.laid || !area) && (
        <div class="actions"><button disabled={!app.mayCommand} onClick={() => void removeZone(app, zone)}>{area ? "Remove" : "Open"}</button></div>
      )}
    </>
  );
}

function FrontierFacts({ frontier }: { frontier: Frontier }) {
  return (
    <dl>
      <dt>Gain</dt>
      <dd>{frontier.gain.toFixed(1)} m² to be seen anew</dd>
      <dt>Width</dt>
      <dd>{metres(frontier.size)}</dd>
      <dt>Where</dt>
      <dd>{place(frontier.x, frontier.y)}</dd>
      {frontier.reason && <dt>Not reachable</dt>}
      {frontier.reason && <dd>{frontier.reason}</dd>}
    </dl>
  );
}
