import { isRecord } from '#lib/json/is-record';
import type { TargetForm } from './schema-target.ts';

/** A part of a schema as it was sent, or as it is being made. Nothing in it is sure to be of its kind. */
export type Schema = Readonly<Record<string, unknown>>;

/** Schemas that references have led to on the way to a part, the same one perhaps more than once. */
export type Open = readonly Schema[];

/** State of one normalization. */
export interface NormalRun {
  readonly root: Schema;
  readonly form: TargetForm;
  /** What references lead to: by the schema there, its name in `$defs`. */
  readonly names: Map<Schema, string>;
  readonly defs: Map<string, Schema>;
  readonly warnings: Set<string>;
  refusal: string | undefined;
  /** Parts that may still be made: references written out can grow beyond any bound. */
  partsLeft: number;
}

const MOST_PARTS = 1_000;
const MOST_WARNINGS = 20;

export const createNormalRun = (root: Schema, form: TargetForm): NormalRun => ({
  root,
  form,
  names: new Map(),
  defs: new Map(),
  warnings: new Set(),
  refusal: undefined,
  partsLeft: MOST_PARTS,
});

export function warn(run: NormalRun, warning: string): void {
  if (run.warnings.size < MOST_WARNINGS) run.warnings.add(warning);
}

export const asSchema = (value: unknown): Schema => (isRecord(value) ? value : {});
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const asTexts = (value: unknown): readonly string[] =>
  asList(value).filter((one) => typeof one === 'string');

/** Whether a part says of what kind its values are. */
export const hasShape = (schema: Schema): boolean =>
  ['type', 'anyOf', '$ref', 'enum', 'const'].some((keyword) => schema[keyword] !== undefined);
