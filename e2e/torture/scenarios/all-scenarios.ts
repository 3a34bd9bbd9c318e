import type { Scenario } from '../scenario.ts';
import { answersOfOthers } from './answers-of-others.ts';
import { awayForAWhile } from './away-for-a-while.ts';
import { brokenLines } from './broken-lines.ts';
import { brokenStreams } from './broken-streams.ts';
import { clientPowerLoss } from './client-power-loss.ts';
import { clockJumps } from './clock-jumps.ts';
import { cutResult } from './cut-result.ts';
import { diskFull } from './disk-full.ts';
import { duplicatePage } from './duplicate-page.ts';
import { eachTwice } from './each-twice.ts';
import { endRaces } from './end-races.ts';
import { failingIo } from './failing-io.ts';
import { freezeClient } from './freeze-client.ts';
import { freezePage } from './freeze-page.ts';
import { fuzzFrames } from './fuzz-frames.ts';
import { fuzzMessages } from './fuzz-messages.ts';
import { gracefulStop } from './graceful-stop.ts';
import { halfOpen } from './half-open.ts';
import { heldWrites } from './held-writes.ts';
import { herdReturns } from './herd-returns.ts';
import { killAtPoints } from './kill-at-points.ts';
import { killClient } from './kill-client.ts';
import { killClientPoints } from './kill-client-points.ts';
import { killPage } from './kill-page.ts';
import { killRecovery } from './kill-recovery.ts';
import { killServer } from './kill-server.ts';
import { lateTimers } from './late-timers.ts';
import { manyTools } from './many-tools.ts';
import { mixedMessages } from './mixed-messages.ts';
import { modelFaults } from './model-faults.ts';
import { noFault } from './no-fault.ts';
import { poisonOutbox } from './poison-outbox.ts';
import { powerLoss } from './power-loss.ts';
import { secondProcess } from './second-process.ts';
import { slowWatchers } from './slow-watchers.ts';
import { stalledServer } from './stalled-server.ts';
import { storeDamage } from './store-damage.ts';

/** In the order in which they run: what others rest on comes first. */
export const SCENARIOS: readonly Scenario[] = [
  noFault,
  killServer,
  heldWrites,
  killAtPoints,
  powerLoss,
  clientPowerLoss,
  killRecovery,
  killClient,
  killClientPoints,
  diskFull,
  failingIo,
  storeDamage,
  secondProcess,
  clockJumps,
  killPage,
  freezePage,
  duplicatePage,
  cutResult,
  brokenLines,
  brokenStreams,
  halfOpen,
  freezeClient,
  awayForAWhile,
  poisonOutbox,
  mixedMessages,
  eachTwice,
  stalledServer,
  lateTimers,
  answersOfOthers,
  endRaces,
  fuzzMessages,
  fuzzFrames,
  manyTools,
  herdReturns,
  gracefulStop,
  slowWatchers,
  modelFaults,
];
