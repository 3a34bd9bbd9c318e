import { readJson } from '../../json/parse-json.ts';
import { errorMessage } from '../../util/error-message.ts';
import { given } from '../../util/given.ts';
import { type ClientToolContext, ToolFailure } from '../client-tool.ts';
import { isPublished, type ModelContext, type WebTool } from './model-context.ts';

/** A page may register its tools one by one in one moment. */
const SETTLE_MS = 50;
/** One page offers so many at most; what is more is left out with a warning. */
const MOST_TOOLS = 64;
const NAME_CHARS = 64;
/** The registry takes it so long; where it came from stands before it. */
const DESCRIPTION_CHARS = 1_900;

export interface ImportOptions {
  readonly context: ModelContext;
  /** Offers one tool; returns the function that takes it back. */
  offer(tool: ImportedTool): () => void;
  /** The page's host, which begins each name. */
  readonly host: string;
  schedule(ms: number, fire: () => void): () => void;
  warn(problem: string): void;
}

export interface ImportedTool {
  readonly name: string;
  readonly displayName?: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly annotations: { readonly destructiveHint?: boolean; readonly openWorldHint: true };
  execute(args: object, context: Pick<ClientToolContext, 'signal'>): Promise<unknown>;
}

/**
 * Offers the tools that the page has registered with its browser (WebMCP) as tools of this client,
 * and follows their changes, until the returned function is called. What a page says of its own
 * tools is no reason to trust them: `readOnlyHint` is not passed on, so that each is asked about.
 */
export function importTools(options: ImportOptions): () => void {
  const { context, schedule, warn } = options;
  /** By what was offered, so that an unchanged tool is not registered anew. */
  let offered = new Map<string, () => void>();
  let isStopped = false;
  let cancelPlan = () => {};

  const refresh = async () => {
    const tools = await context.list();
    if (isStopped) return;
    const before = offered;
    offered = new Map();
    const wanted = chosen(tools, options);
    for (const [key, back] of before) if (!wanted.has(key)) back();
    for (const [key, tool] of wanted) {
      const known = before.get(key);
      if (known) offered.set(key, known);
      else offer(key, tool);
    }
  };
  const offer = (key: string, tool: ImportedTool) => {
    try {
      offered.set(key, options.offer(tool));
    } catch (error) {
      warn(`the tool ${tool.name} of this page is not offered: ${errorMessage(error)}`);
    }
  };
  const plan = () => {
    cancelPlan();
    cancelPlan = schedule(SETTLE_MS, () => {
      refresh().catch((error) => warn(`its WebMCP tools: ${errorMessage(error)}`));
    });
  };
  const endListening = context.onChange(plan);
  plan();
  return () => {
    isStopped = true;
    cancelPlan();
    endListening();
    for (const back of offered.values()) back();
    offered = new Map();
  };
}

/** By a key that is another one when anything of the tool is. Our own, which came from the server, do not go back to it. */
function chosen(
  tools: readonly WebTool[],
  options: Pick<ImportOptions, 'context' | 'host' | 'warn'>,
): Map<string, ImportedTool> {
  const fit = tools.filter((tool) => !tool.isDebugging && !isPublished(tool.name));
  if (fit.length > MOST_TOOLS) {
    options.warn(`this page has ${fit.length} tools; ${MOST_TOOLS} are offered.`);
  }
  return new Map(
    fit.slice(0, MOST_TOOLS).map((tool) => {
      const made = toImported(tool, options);
      return [JSON.stringify([made, tool.inputSchema]), made];
    }),
  );
}

const toImported = (
  tool: WebTool,
  { context, host }: Pick<ImportOptions, 'context' | 'host'>,
): ImportedTool => ({
  name: importedName(host, tool.name),
  ...given({ displayName: tool.title?.slice(0, 128) }),
  description: `[WebMCP tool of ${tool.origin}] ${tool.description.slice(0, DESCRIPTION_CHARS)}`,
  parameters: tool.inputSchema,
  annotations: {
    openWorldHint: true,
    ...(tool.isConsequential ? { destructiveHint: true } : {}),
  },
  async execute(args, { signal }) {
    try {
      return fromText(await context.execute(tool, args, signal));
    } catch (error) {
      if (signal.aborted) throw error;
      throw new ToolFailure(
        'internal',
        `The tool ${tool.name} of the page failed. Browsers do not pass on why.`,
      );
    }
  },
});

/** Objects come as text. */
function fromText(text: string): unknown {
  return (/^[[{]/.test(text) ? readJson(text) : undefined) ?? text;
}

/** `shop.example` and `add-to-cart`: `shop.example.add-to-cart`. */
export function importedName(host: string, name: string): string {
  const clean = (text: string) => text.replace(/[^A-Za-z0-9_.-]/g, '-');
  const prefix =
    clean(host)
      .slice(0, 24)
      .replace(/^[^A-Za-z]+/, '') || 'page';
  return `${prefix}.${clean(name)}`.slice(0, NAME_CHARS);
}
