export { createWatch } from './create-watch.ts';
export { publishListings } from './publish-listings.ts';
export { publishApproval } from './snapshot.ts';
