import type { ToolAnswer, ToolContext } from '../tools/define-tool.ts';
import { checkedAlone } from '../tools/testing/register-tools.ts';
import type { ProvidedTool, ToolOrigin, ToolProvider } from '../tools/tool-provider.ts';

type Run = (args: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<ToolAnswer>;

/** A tool of another program, as that lists it; what it does is the test's. */
export interface FakeProvided {
  readonly name: string;
  readonly run?: Run;
  readonly unavailable?: string;
}

/** Tools that come, change and go, of a kind that the server has no word for. */
export class FakeProvider implements ToolProvider {
  readonly origin: ToolOrigin;
  readonly #listeners = new Set<() => void>();
  readonly #runs = new Map<string, Run>();
  #listed: readonly ProvidedTool[] = [];

  constructor(origin: ToolOrigin = { source: 'mcp', toolProvider: 'mcp:files' }) {
    this.origin = origin;
  }

  /** From now on these and no others. */
  offer(...tools: (FakeProvided & Readonly<Record<string, unknown>>)[]): void {
    this.#listed = tools.map(({ run, unavailable, ...spec }) => {
      const checked = checkedAlone({ description: 'A tool', parameters: OPEN, ...spec });
      if (!checked.ok) throw new Error(checked.rejected.message);
      this.#runs.set(spec.name, run ?? (async () => ({ output: `${spec.name} ran` })));
      return { ...checked.tool, unavailable };
    });
    for (const listener of [...this.#listeners]) listener();
  }

  list(): readonly ProvidedTool[] {
    return this.#listed;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  execute(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ): Promise<ToolAnswer> {
    const run = this.#runs.get(name);
    if (!run) throw new Error(`It never had ${name}`);
    return run(args, context);
  }
}

const OPEN = { type: 'object', properties: {} };
