import { arch, cpus, platform, totalmem } from 'node:os';

/** Figures depend on these; nothing among them names the machine. */
export const describeMachine = () => ({
  cpus: cpus().length,
  cpu: cpus()[0]?.model ?? 'unknown',
  memory: totalmem(),
  platform: platform(),
  arch: arch(),
  node: process.version,
});
