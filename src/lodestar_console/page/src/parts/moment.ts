// What was known at a time: where the robot was, its picture, its decision.

import type { App } from "../app";
import type { AtValue } from "../protocol";

/** Something that has a time: an entry of the timeline, a decision, a memory. What is empty or 0 is asked for. */
export interface Past {
  at: number;
  text: string;
  decision: string;
  keyframe: number;
  session?: string;
}

export async function showMoment(app: App, { at, text, decision, keyframe, session = "" }: Past): Promise<void> {
  app.ui.set({ moment: { time: at, pose: null, decision, keyframe, session, text } });
  const reply = await app.request("at", { time: at });
  if (!reply.ok || app.ui.state.moment?.time !== at) return;
  const value = reply.value as AtValue;
  const made = decision || value.decision?.id || "";
  app.ui.set({
    moment: {
      time: at,
      pose: value.pose,
      decision: made,
      keyframe: keyframe || value.keyframe,
      session: keyframe ? session : "",
      text: text || value.decision?.explanation || "",
    },
    ...(made ? { decision: made, tab: "decisions" as const } : {}),
  });
}
