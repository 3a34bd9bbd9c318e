import { createPolicyApi } from '#lib/api/policy-api';
import type { Workbench } from './workbench-context.tsx';

/** After a failure, while nothing else gives a cause to ask again. */
const AGAIN_MS = 2_000;

/**
 * Asks how much agents do without a person: at each connection, and after each snapshot, since an
 * event may have been lost before it. What is switched meanwhile comes as an event (AN1).
 */
export function keepAutonomy({ api, connection, autonomy }: Workbench): () => void {
  const { getPolicy } = createPolicyApi(api.request);
  let asked = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isConnected = () => connection.getState().feed.kind === 'connected';
  const look = async () => {
    clearTimeout(timer);
    if (!isConnected()) return;
    asked += 1;
    const mine = asked;
    const before = autonomy.getState();
    const answer = await getPolicy();
    if (mine !== asked) return;
    // What was switched meanwhile may not be in the answer.
    if (autonomy.getState() !== before) return look();
    if (answer.ok) autonomy.setState({ autonomy: answer.value.autonomy });
    else if (answer.status !== 401) timer = setTimeout(look, AGAIN_MS);
  };
  const ends = [
    autonomy.subscribe((now, before) => {
      if (now.snapshots !== before.snapshots) void look();
    }),
    connection.subscribe((now, before) => {
      if (now.feed.kind === 'connected' && before.feed.kind !== 'connected') void look();
    }),
  ];
  return () => {
    asked += 1;
    clearTimeout(timer);
    for (const end of ends) end();
  };
}
