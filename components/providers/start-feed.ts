import { createBrowserEnvironment } from '#lib/client/browser-environment';
import { feedChanged } from '#lib/stores/connection-store';
import { findGap } from '#lib/stores/find-gap';
import { runsThatLost } from '#lib/stores/fold-calls';
import { createFrameScheduler } from '#lib/stores/frame-scheduler';
import { WatchFeed } from '#lib/stores/watch-feed';
import { pageProtocols } from './page-session.ts';
import { socketUrl } from './socket-url.ts';
import type { Workbench } from './workbench-context.tsx';

/** Connects a workbench's stores to the watch socket of the server that served the page. */
export function startFeed(workbench: Workbench): WatchFeed {
  const { calls, older, runs, listings, autonomy, devices, connection, api } = workbench;
  const environment = createBrowserEnvironment(pageProtocols);
  const fed = [calls, runs, listings];
  return new WatchFeed({
    environment,
    url: socketUrl('/ws/watch', location),
    schedule: createFrameScheduler({
      requestFrame: (run) => requestAnimationFrame(run),
      schedule: environment.schedule,
    }),
    isOnline: () => navigator.onLine,
    hasAccess: async () => {
      const answer = await api.listModels();
      return answer.ok || answer.status !== 401;
    },
    findGap: (events) => findGap(calls.getState(), runs.getState(), events),
    onSnapshot: (snapshot) => {
      const before = calls.getState();
      for (const store of fed) store.getState().replace(snapshot);
      autonomy.getState().replace();
      devices.getState().replace(snapshot);
      older.getState().renew(runsThatLost(before, calls.getState()));
    },
    onEnded: (part) => calls.getState().add(part),
    onEvents: (events) => {
      for (const store of [...fed, autonomy, devices]) store.getState().apply(events);
    },
    onState: (feed) => connection.setState(feedChanged(feed, Date.now())),
    onCaughtUp: (events) => connection.setState({ caughtUp: { events, at: Date.now() } }),
    onProblem: (message) => console.warn(`watch feed: ${message}`),
  });
}
