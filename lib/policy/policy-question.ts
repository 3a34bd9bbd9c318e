import type { CallOrigin } from './policy-definition.ts';

/** A call that is about to be made: who, how, which tool at which executor, with what. */
export interface PolicyQuestion {
  /** Who calls, or for whom the built-in agent does. `role` is of operators. */
  readonly caller: {
    readonly kind: 'operator' | 'agent' | 'device';
    readonly name: string;
    readonly role?: string | undefined;
  };
  readonly via: CallOrigin;
  readonly toolName: string;
  /** Of the client that would be asked now; null for the server's own tools. */
  readonly clientId: string | null;
  /** As that executor annotates the tool. */
  readonly access: 'read' | 'write';
  readonly schemaHash: string;
  /** Checked against the schema, and repaired. */
  readonly args: Readonly<Record<string, unknown>>;
}
