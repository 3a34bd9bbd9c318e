import { onSessionKey } from './page-session.ts';
import type { Workbench } from './workbench-context.tsx';

/** After a failure, while the page's feed may be connected and give no cause to ask again. */
const AGAIN_MS = 2_000;

/**
 * Asks who is signed in: at once, at each connection, and when another tab has signed in. Returns a
 * function that ends it.
 */
export function keepMe({ api, connection, me }: Workbench): () => void {
  let asked = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const load = async () => {
    clearTimeout(timer);
    asked += 1;
    const mine = asked;
    const answer = await api.getMe();
    // Of two sign-ins the later one counts.
    if (mine !== asked) return;
    if (answer.ok) me.setState({ me: answer.value });
    else if (answer.status !== 401) timer = setTimeout(load, AGAIN_MS);
  };
  void load();
  const ends = [
    onSessionKey(() => void load()),
    connection.subscribe((now, before) => {
      if (now.feed.kind === 'connected' && before.feed.kind !== 'connected') void load();
    }),
  ];
  return () => {
    asked += 1;
    clearTimeout(timer);
    for (const end of ends) end();
  };
}
