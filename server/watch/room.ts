export { publishApproval } from './publish-approvals.ts';
export { publishListings } from './publish-listings.ts';
export { createSnapshots } from './snapshot.ts';
export { createWatchHub, WATCH_LIMITS } from './watch-hub.ts';
export { createWatchSocketHandler } from './watch-socket.ts';
export { createWholeLists } from './whole-lists.ts';
