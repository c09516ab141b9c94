// What came of the last request, until it is closed; good news goes by itself.

import { useEffect } from "preact/hooks";
import { useApp, useUi } from "../app";

const GOOD_NEWS = 6_000; // ms

export function NoticeLine() {
  const app = useApp();
  const { notice } = useUi();
  useEffect(() => {
    if (!notice || notice.bad) return undefined;
    const timer = setTimeout(() => app.ui.set({ notice: null }), GOOD_NEWS);
    return () => clearTimeout(timer);
  }, [notice]);
  const take = async (): Promise<void> => {
    const reply = await app.request("lease", { action: "take" });
    if (reply.ok) app.ui.say("You command now.");
  };
  return (
    <div class="notice-place" role="status">
      {notice && (
        <div class={notice.bad ? "notice bad" : "notice"}>
          <p>{notice.text}</p>
          {notice.lease && app.mayCommand && <button onClick={take}>Take command</button>}
          <button class="square" aria-label="Close message" onClick={() => app.ui.set({ notice: null })}>×</button>
        </div>
      )}
    </div>
  );
}
