import { createPolicyApi } from '#lib/api/policy-api';
import type { Workbench } from './workbench-context.tsx';

/** No event carries a switch: what another person switched is seen within this time. */
const LOOK_MS = 30_000;

/** Asks how much agents do without a person: at each connection, when the page is looked at, and every 30 s. */
export function keepAutonomy({ api, connection, autonomy }: Workbench): () => void {
  const { getPolicy } = createPolicyApi(api.request);
  let asked = 0;
  const look = async () => {
    if (document.hidden || connection.getState().feed.kind !== 'connected') return;
    asked += 1;
    const mine = asked;
    const before = autonomy.getState();
    const answer = await getPolicy();
    // A switch that was made meanwhile is newer than what was asked for.
    if (mine !== asked || autonomy.getState() !== before) return;
    if (answer.ok) autonomy.setState({ autonomy: answer.value.autonomy });
  };
  const timer = setInterval(look, LOOK_MS);
  document.addEventListener('visibilitychange', look);
  const stop = connection.subscribe((now, before) => {
    if (now.feed.kind === 'connected' && before.feed.kind !== 'connected') void look();
  });
  return () => {
    asked += 1;
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
    stop();
  };
}
