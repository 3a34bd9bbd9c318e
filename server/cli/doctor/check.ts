import type { Context } from '../command.ts';
import type { DataDir } from '../data-dir.ts';

/** One step of the examination found it. `mend` is there where something is to be done. */
export interface Finding {
  /** Stable, for programs. */
  readonly step: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly text: string;
  readonly mend?: string;
}

export interface Examined {
  readonly context: Context;
  readonly dataDir: DataDir;
  /** The server's address; undefined where none is known. */
  readonly url: URL | undefined;
}

export type Check = (examined: Examined) => Promise<readonly Finding[]> | readonly Finding[];

export const ok = (step: string, text: string): Finding => ({ step, state: 'ok', text });
export const skipped = (step: string, text: string): Finding => ({ step, state: 'skipped', text });
export const warning = (step: string, text: string, mend: string): Finding => ({
  step,
  state: 'warning',
  text,
  mend,
});
export const failed = (step: string, text: string, mend: string): Finding => ({
  step,
  state: 'failed',
  text,
  mend,
});
