import { APPROVAL_GUARDS } from './guards/approvals.ts';
import { DEVICE_GUARDS } from './guards/devices.ts';
import { EXPERIMENT_GUARDS } from './guards/experiments.ts';
import type { Guard } from './guards/guard.ts';
import { LOOP_GUARDS } from './guards/loop.ts';
import { NETWORK_GUARDS } from './guards/network.ts';
import { PROMISE_GUARDS } from './guards/promises.ts';
import { REGISTRY_GUARDS } from './guards/registry.ts';
import { TOOL_GUARDS } from './guards/tools.ts';

/** In the order of docs/threats.md, and those of docs/promises.md after them. */
export const GUARDS: readonly Guard[] = [
  ...EXPERIMENT_GUARDS,
  ...NETWORK_GUARDS,
  ...DEVICE_GUARDS,
  ...REGISTRY_GUARDS,
  ...APPROVAL_GUARDS,
  ...TOOL_GUARDS,
  ...LOOP_GUARDS,
  ...PROMISE_GUARDS,
];
