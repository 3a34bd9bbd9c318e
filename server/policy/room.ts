export type { LivePolicy } from './live-policy.ts';
export { openPolicy } from './open-policy.ts';
