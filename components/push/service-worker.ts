import { pathOf, receivePush, showWindow } from './receive-push.ts';
import type { WorkerScope } from './worker-scope.ts';

// What this file runs in: `/push/sw.js` with the scope `/push/`, in which there is no page. So it
// controls none, and no page of the workbench loads in another way for it.
const worker = globalThis as unknown as WorkerScope;

const HOME = '/approvals';

receivePush(worker, HOME);

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(showWindow(worker, pathOf(event, worker.location.origin, HOME)));
});
