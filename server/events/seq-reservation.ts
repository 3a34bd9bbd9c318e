import type { Logger } from '../base/logger.ts';

/** Numbers taken from the store at a time: the first block by the maker of the bus. */
export const SEQ_BLOCK = 1_000_000;

/**
 * Keeps ahead of the event numbers in use: asks for the next block when half of
 * the last one is used, so that no number waits for the disk. Should a block
 * come late or never, numbering goes on; only numbers used past the last block
 * may come again after a restart.
 */
export function createSeqReservation(options: {
  readonly firstSeq: number;
  readonly block: number;
  reserve(count: number): Promise<number>;
  logger: Logger;
}): { used(seq: number): void } {
  const { block, reserve, logger } = options;
  let askAt = options.firstSeq + block / 2;
  return {
    used(seq) {
      if (seq < askAt) return;
      askAt += block; // Also when it fails: one complaint per block is enough.
      reserve(block).catch(logger.error);
    },
  };
}
