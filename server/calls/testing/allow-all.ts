import type { CallServiceDeps } from '../create-call-service.ts';

/** A policy that allows each call, and has no hooks. */
export const ALLOW_ALL: CallServiceDeps['policy'] = {
  check: () => ({ verdict: 'allow' }),
  checkEdit: () => undefined,
  denial: () => undefined,
};
