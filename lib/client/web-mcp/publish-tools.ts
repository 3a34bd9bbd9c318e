import { errorMessage } from '../../util/error-message.ts';
import { given } from '../../util/given.ts';
import { type ModelContext, markPublished, type PublishedTool } from './model-context.ts';

/** A tool of this tab, as the server lists it. */
export interface OwnTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
}

export interface PublishOptions {
  readonly context: ModelContext;
  /** Has the server call it, so that it is recorded and asked about; resolves with what the model is told. */
  call(tool: string, args: unknown, signal: AbortSignal | undefined): Promise<string>;
  warn(problem: string): void;
}

/** The agent of the browser learns of these that they have consequences: it asks a person, too. */
const CONSEQUENTIAL = /^(?:camera|microphone|clipboard|geolocation|contacts|file|share|sensors)\./;

/** Registers tools of this tab with the agent of its browser (WebMCP); each call goes by the server. */
export function createPublisher({ context, call, warn }: PublishOptions) {
  /** By what was registered. */
  const live = new Map<string, AbortController>();
  const add = (key: string, tool: OwnTool) => {
    const ended = new AbortController();
    const unmark = markPublished(tool.name);
    ended.signal.addEventListener('abort', unmark, { once: true });
    live.set(key, ended);
    context.register(toPublished(tool, call), ended.signal).catch((error) => {
      // It was withdrawn meanwhile, and another one may have its place.
      if (ended.signal.aborted) return;
      live.delete(key);
      unmark();
      warn(`the browser does not take the tool ${tool.name}: ${errorMessage(error)}`);
    });
  };
  /** In place of those before. */
  const publish = (tools: readonly OwnTool[]) => {
    const wanted = new Map(tools.map((tool) => [JSON.stringify(tool), tool]));
    for (const [key, ended] of live) {
      if (wanted.has(key)) continue;
      live.delete(key);
      ended.abort();
    }
    for (const [key, tool] of wanted) if (!live.has(key)) add(key, tool);
  };
  return { publish, stop: () => publish([]) };
}

const toPublished = (tool: OwnTool, call: PublishOptions['call']): PublishedTool => ({
  name: tool.name,
  ...given({ title: tool.title }),
  description: tool.description,
  inputSchema: tool.schema,
  annotations: {
    ...(tool.isReadOnly ? { readOnlyHint: true } : {}),
    ...(CONSEQUENTIAL.test(tool.name) || !tool.isReadOnly ? { consequentialHint: true } : {}),
  },
  execute: (args, options) => call(tool.name, args, options?.signal),
});
