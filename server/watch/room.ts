export { publishListings } from './publish-listings.ts';
export { createSnapshots, publishApproval } from './snapshot.ts';
export { createWatchHub, WATCH_LIMITS } from './watch-hub.ts';
export { createWatchSocketHandler } from './watch-socket.ts';
export { createWholeLists } from './whole-lists.ts';
