import { createStore, type StoreApi } from 'zustand/vanilla';
import type { ModelListing } from '../protocol/run.ts';

export interface ModelsState {
  readonly models: readonly ModelListing[];
  /** Model reference; null until models are known, then what the person chose, or the default. */
  readonly chosen: string | null;
  load(models: readonly ModelListing[], remembered: string | null): void;
  choose(model: string): void;
}

export type ModelsStore = StoreApi<ModelsState>;

/** The models that can be chosen. A remembered choice counts only while the server still has it. */
export const createModelsStore = (): ModelsStore =>
  createStore((set) => ({
    models: [],
    chosen: null,
    load: (models, remembered) => set({ models, chosen: pick(models, remembered) }),
    choose: (model) => set({ chosen: model }),
  }));

function pick(models: readonly ModelListing[], remembered: string | null): string | null {
  const known = models.find((one) => one.model === remembered);
  const fallback = models.find((one) => one.default) ?? models[0];
  return (known ?? fallback)?.model ?? null;
}
