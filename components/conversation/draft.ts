import { tabMemory } from '../providers/stored-text.ts';

const keyOf = (runId: string | null): string => `callboard:draft:${runId ?? 'new'}`;

/** What was typed and not sent, kept over reloads and over signing in again. */
export const readDraft = (runId: string | null): string => tabMemory.read(keyOf(runId)) ?? '';

export const writeDraft = (runId: string | null, text: string): void =>
  tabMemory.write(keyOf(runId), text === '' ? null : text);
