import type { CallService } from '../../calls/room.ts';
import type { AnyServerTool, ToolRegistry } from '../../tools/room.ts';
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
