// Memories: the newest, or those that fit a search; pin, correct, forget.

import { useState } from "preact/hooks";
import { useApp, useStore } from "../app";
import { clock, place } from "../format";
import type { FoundValue, MemoryItem } from "../protocol";
import { showMoment } from "./moment";
import { Pictures, shots } from "./pictures";

const SHOWN = 100;

export function Memories() {
  const app = useApp();
  const store = useStore("memories");
  const [words, setWords] = useState("");
  const [found, setFound] = useState<MemoryItem[] | null>(null);
  const newest = [...store.rows("memories").values()].reverse();
  const search = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!words.trim()) return setFound(null);
    const reply = await app.request("memory_search", { text: words.trim() });
    if (reply.ok) setFound((reply.value as FoundValue).memories);
  };
  const change = (memory: MemoryItem | null, id: string): void =>
    setFound((before) => before?.flatMap((one) => (one.id !== id ? [one] : memory ? [memory] : [])) ?? null);
  const rows = found ?? newest;
  return (
    <>
      <form class="line-form" onSubmit={search}>
        <label class="grow">
          Search the memory
          <input type="search" value={words} maxLength={300} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <button class="primary" type="submit">Search</button>
        {found && <button type="button" onClick={() => (setFound(null), setWords(""))}>Newest</button>}
      </form>
      {rows.length === 0 && <p class="hint">{found ? "Nothing that fits is remembered." : "Nothing was remembered yet."}</p>}
      <ol class="list">
        {rows.slice(0, SHOWN).map((memory) => <li key={memory.id}><Row memory={memory} change={change} /></li>)}
      </ol>
    </>
  );
}

function Row({ memory, change }: { memory: MemoryItem; change(memory: MemoryItem | null, id: string): void }) {
  const app = useApp();
  const [mode, setMode] = useState<"" | "correct" | "forget">("");
  const [text, setText] = useState(memory.text);
  const pin = async (): Promise<void> => {
    const pinned = !memory.pinned;
    const reply = await app.request("memory_pin", { memory: memory.id, pinned });
    if (reply.ok) change({ ...memory, pinned }, memory.id);
  };
  const correct = async (event: Event): Promise<void> => {
    event.preventDefault();
    const reply = await app.request("memory_correct", { memory: memory.id, text: text.trim() });
    if (!reply.ok) return;
    change({ ...memory, text: text.trim() }, memory.id);
    setMode("");
  };
  const forget = async (): Promise<void> => {
    const reply = await app.request("memory_forget", { memories: [memory.id], expected: 1 });
    if (reply.ok) change(null, memory.id);
  };
  const show = (): void => {
    const places: [number, number][] = memory.x !== null && memory.y !== null ? [[memory.x, memory.y]] : [];
    app.ui.set({ lit: { text: memory.text, places, entities: memory.entities }, panel: "map" });
  };
  const then = (): void => {
    show();
    void showMoment(app, { at: memory.at, text: memory.text, decision: "", keyframe: memory.keyframes[0] ?? 0, session: memory.session });
  };
  return (
    <article class="memory">
      <p><time>{clock(memory.at)}</time> {memory.x !== null && memory.y !== null && <span class="hint">{place(memory.x, memory.y)}</span>} {memory.pinned && <span class="tag">pinned</span>} <span class="data">{memory.text}</span></p>
      <Pictures shots={shots(memory.keyframes.slice(0, 3), memory.session)} of="this memory" />
      {mode === "correct" ? (
        <form class="line-form" onSubmit={correct}>
          <label class="grow">Instead<input value={text} maxLength={1000} onInput={(event) => setText(event.currentTarget.value)} /></label>
          <button class="primary" type="submit" disabled={!text.trim()}>Correct</button>
          <button type="button" onClick={() => setMode("")}>Cancel</button>
        </form>
      ) : mode === "forget" ? (
        <div class="actions">
          <span class="bad">Forgotten for good, with its pictures.</span>
          <button class="danger" onClick={forget}>Forget it</button>
          <button onClick={() => setMode("")}>Keep it</button>
        </div>
      ) : (
        <div class="actions quiet">
          {(memory.x !== null || memory.entities.length > 0) && <button onClick={show}>Show</button>}
          <button onClick={then}>Go to then</button>
          <button aria-pressed={memory.pinned} onClick={pin}>{memory.pinned ? "Unpin" : "Pin"}</button>
          <button onClick={() => setMode("correct")}>Correct</button>
          <button onClick={() => setMode("forget")}>Forget</button>
        </div>
      )}
    </article>
  );
}
