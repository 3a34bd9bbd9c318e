import { spellingOf } from '#lib/protocol/tool-name';
import type { InsideTool, ProvidedTool, ToolProvider } from './tool-provider.ts';

/** The tools of all providers, by name, as they were listed last: a call is checked by what its caller was shown. */
export class InsideTools {
  readonly #providers: ToolProvider[];
  readonly #listed = new Map<ToolProvider, readonly ProvidedTool[]>();
  readonly #made = new WeakMap<ProvidedTool, InsideTool>();
  #byName: ReadonlyMap<string, InsideTool> = new Map();
  /** Names by what `spellingOf` makes of them. */
  #bySpelling: ReadonlyMap<string, string> = new Map();

  constructor(providers: readonly ToolProvider[]) {
    this.#providers = [...providers];
    this.read();
  }

  /** After those that are there already. */
  add(provider: ToolProvider): void {
    this.#providers.push(provider);
  }

  find(name: string): InsideTool | undefined {
    return this.#byName.get(name);
  }

  /** The one of these tools for which models could take the name. */
  nameOf(name: string): string | undefined {
    return this.#bySpelling.get(spellingOf(name));
  }

  reserves(name: string): boolean {
    return this.nameOf(name) !== undefined;
  }

  /** Another map whenever anything of it is new. */
  get byName(): ReadonlyMap<string, InsideTool> {
    return this.#byName;
  }

  /** Asks the providers for what they offer now. */
  read(): void {
    let isNew = false;
    for (const provider of this.#providers) {
      const now = provider.list();
      isNew ||= now !== this.#listed.get(provider);
      this.#listed.set(provider, now);
    }
    if (isNew) this.#build();
  }

  #build(): void {
    const byName = new Map<string, InsideTool>();
    const bySpelling = new Map<string, string>();
    for (const [provider, tools] of this.#listed) {
      for (const tool of tools) {
        const spelling = spellingOf(tool.name);
        if (bySpelling.has(spelling)) continue;
        bySpelling.set(spelling, tool.name);
        byName.set(tool.name, this.#made.get(tool) ?? this.#make(tool, provider));
      }
    }
    this.#byName = byName;
    this.#bySpelling = bySpelling;
  }

  #make(tool: ProvidedTool, provider: ToolProvider): InsideTool {
    const { origin } = provider;
    const made = { ...tool, provider, origin, clientId: null, instanceId: null };
    this.#made.set(tool, made);
    return made;
  }
}
