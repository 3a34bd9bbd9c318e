import { expect, test } from 'vitest';
import type { ModelListing } from '../protocol/run.ts';
import { createModelsStore, isOutdated } from './models-store.ts';

const listing = (model: string, more: Partial<ModelListing> = {}): ModelListing => ({
  model,
  label: model,
  provider: 'x',
  rehearsal: model === 'rehearsal',
  images: false,
  default: false,
  ...more,
});
const silent = listing('compatible', { default: true, available: false });
const qwen = listing('compatible:qwen3', { default: true });
const rehearsal = listing('rehearsal');

test('a default that was not chosen gives way to the next default', () => {
  const { getState } = createModelsStore();
  getState().load([listing('rehearsal', { default: true })], null);
  expect(getState().chosen).toBe('rehearsal');
  getState().load([silent, rehearsal], getState().picked);
  expect(getState().chosen).toBe('compatible');
  getState().load([qwen, rehearsal], getState().picked);
  expect(getState().chosen).toBe('compatible:qwen3');
});

test('what the person chose stays as long as the server has it, and comes back with it', () => {
  const { getState } = createModelsStore();
  getState().load([qwen, rehearsal], null);
  getState().choose('rehearsal');
  getState().load([silent, rehearsal], getState().picked);
  expect(getState().chosen).toBe('rehearsal');
  getState().choose('compatible');
  getState().load([qwen, rehearsal], getState().picked);
  expect(getState().chosen).toBe('compatible:qwen3');
});

test('a list is outdated when a run has met a model of a server that had not answered', () => {
  const runs = (model: string) => ({ run_1: { model } });
  expect(isOutdated([silent, rehearsal], runs('compatible:qwen3'))).toBe(true);
  expect(isOutdated([silent, rehearsal], runs('compatible'))).toBe(false);
  expect(isOutdated([silent, rehearsal], runs('openai:gone'))).toBe(false);
  expect(isOutdated([qwen, rehearsal], runs('compatible:other'))).toBe(false);
});
