import type { ErrorDetail } from '../protocol/http-error.ts';

/** Arguments after the check: mended where the schema asks for it, or the reasons why not. */
export type ArgsCheck =
  | { readonly ok: true; readonly args: Record<string, unknown>; readonly repairs: readonly string[] }
  | { readonly ok: false; readonly details: readonly ErrorDetail[] };

export type CompiledToolSchema =
  | { readonly ok: true; readonly check: (args: unknown) => ArgsCheck }
  | { readonly ok: false; readonly code: string; readonly message: string };
