import { createStore, type StoreApi } from 'zustand/vanilla';
import type { ModelListing, NewSettings, RunSummary } from '../protocol/run.ts';

export interface ModelsState {
  readonly models: readonly ModelListing[];
  /** Model reference; null until models are known, then what the person chose, or the default. */
  readonly chosen: string | null;
  /** The person's choice; null while the server's default counts. */
  readonly picked: string | null;
  /** How models are asked from the next message on; null while the person has not said so. */
  readonly settings: NewSettings | null;
  ask(settings: NewSettings): void;
  load(models: readonly ModelListing[], remembered: string | null): void;
  choose(model: string): void;
}

export type ModelsStore = StoreApi<ModelsState>;

/**
 * The models that can be chosen. A remembered choice counts only while the server has it, and a
 * default that was not chosen gives way to the next one: of a server that answers at last.
 */
export const createModelsStore = (): ModelsStore =>
  createStore((set) => ({
    models: [],
    chosen: null,
    picked: null,
    settings: null,
    ask: (settings) => set({ settings }),
    load: (models, remembered) =>
      set({ models, picked: remembered, chosen: pick(models, remembered) }),
    choose: (model) => set({ chosen: model, picked: model }),
  }));

/** A run has met a model that its server had not listed before: the list is to be loaded again. */
export const isOutdated = (
  models: readonly ModelListing[],
  runs: Readonly<Record<string, Pick<RunSummary, 'model'>>>,
): boolean =>
  models.some(({ available }) => available === false) &&
  Object.values(runs).some(
    (run) =>
      run.model?.startsWith('compatible:') && models.every(({ model }) => model !== run.model),
  );

function pick(models: readonly ModelListing[], remembered: string | null): string | null {
  const known = models.find((one) => one.model === remembered);
  const fallback = models.find((one) => one.default) ?? models[0];
  return (known ?? fallback)?.model ?? null;
}
