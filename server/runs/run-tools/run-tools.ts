import type { CallService } from '../../calls/call-service.ts';
import type { AnyServerTool } from '../../tools/define-tool.ts';
import type { ToolRegistry } from '../../tools/tool-registry.ts';
import type { RunService } from '../run-service.ts';
import { createReadResult, type ReadResultDeps } from './read-result.ts';
import { createSearchTools } from './search-tools.ts';

/** What the tools need of the parts that are built after them. */
export interface RunToolsParts extends Pick<ReadResultDeps, 'fileText'> {
  readonly calls: Pick<CallService, 'get'>;
  readonly runs: Pick<RunService, 'tools'>;
  readonly registry: Pick<ToolRegistry, 'list'>;
}

/** Tools about a run itself (rules RT in SPEC.md). */
export class RunTools {
  readonly #resultBytes: number;
  #parts: RunToolsParts | undefined;

  constructor(resultBytes: number) {
    this.#resultBytes = resultBytes;
  }

  /** Once, before a call is taken. */
  connect(parts: RunToolsParts): void {
    this.#parts = parts;
  }

  tools(): AnyServerTool[] {
    return [
      createReadResult({
        calls: () => this.#use().calls,
        fileText: (file) => this.#use().fileText(file),
        resultBytes: this.#resultBytes,
      }),
      createSearchTools({
        statesOf: (runId) => this.#use().runs.tools(runId),
        list: (principal) => this.#use().registry.list(principal),
      }),
    ];
  }

  #use(): RunToolsParts {
    if (!this.#parts) throw new Error('The tools of runs are not connected');
    return this.#parts;
  }
}
