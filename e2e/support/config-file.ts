import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestInfo } from '@playwright/test';

/** Environment of a server on which runs and agents call tools with effects without a person's yes. */
export const ALLOWS_EFFECTS = {
  CALLBOARD_CONFIG: join(import.meta.dirname, 'allow-effects.config.json'),
};

/** A configuration of a test's own, for `CALLBOARD_CONFIG`. */
export async function configFile(testInfo: TestInfo, config: object): Promise<string> {
  const file = join(testInfo.outputDir, 'callboard.config.json');
  await mkdir(testInfo.outputDir, { recursive: true });
  // The file is its owner's alone: it may name programs to start.
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
