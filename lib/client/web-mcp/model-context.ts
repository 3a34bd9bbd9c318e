import { isRecord } from '../../json/is-record.ts';

/**
 * A tool that a page offers to the agent of its browser (WebMCP), as far as it is used here.
 * `inputSchema` is text in older browsers, and any JSON: nothing of it is checked there.
 */
export interface WebTool {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** It is for those who develop the page, and not for agents. */
  readonly isDebugging: boolean;
  /** It changes something that counts. */
  readonly isConsequential: boolean;
  /** The page that offers it has this origin. */
  readonly origin: string;
  /** The browser gave it, to run the tool by. */
  readonly handle: object;
}

/** A page registers it with its browser. */
export interface PublishedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations: { readonly readOnlyHint?: boolean; readonly consequentialHint?: boolean };
  execute(args: unknown, options?: { readonly signal?: AbortSignal }): Promise<unknown>;
}

/** `document.modelContext`, in the forms that browsers have had since 153. */
export interface ModelContext {
  /** Lists the tools of this document. */
  list(): Promise<readonly WebTool[]>;
  /** The answer is text; an error of the tool comes without its message. */
  execute(tool: WebTool, args: object, signal: AbortSignal): Promise<string>;
  /** Registers it until the signal aborts. Rejects where the name is taken or cannot be one. */
  register(tool: PublishedTool, signal: AbortSignal): Promise<void>;
  /** Called when other tools are there. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
}

/** Undefined where the browser has none, or the page may not use it. */
export function readModelContext(page: Document): ModelContext | undefined {
  const context: unknown = Reflect.get(page, 'modelContext');
  if (!(context instanceof EventTarget) || !hasMethods(context)) return undefined;
  return {
    list: async () => (await context.getTools()).flatMap((tool) => readTool(tool, page) ?? []),
    async execute({ handle }, args, signal) {
      // By what this browser has, and never by trying: a tool must not run twice.
      const isText = typeof Reflect.get(handle, 'inputSchema') === 'string';
      return String(
        await context.executeTool(handle, isText ? JSON.stringify(args) : args, { signal }),
      );
    },
    register: async (tool, signal) => context.registerTool(tool, { signal }),
    onChange(listener) {
      context.addEventListener('toolchange', listener);
      return () => context.removeEventListener('toolchange', listener);
    },
  };
}

interface Methods {
  getTools(): Promise<readonly unknown[]>;
  executeTool(tool: object, input: unknown, options: { signal: AbortSignal }): Promise<unknown>;
  registerTool(tool: PublishedTool, options: { signal: AbortSignal }): Promise<void>;
}

const METHODS = ['getTools', 'executeTool', 'registerTool'];

const hasMethods = (context: EventTarget): context is EventTarget & Methods =>
  METHODS.every((name) => typeof Reflect.get(context, name) === 'function');

function readTool(tool: unknown, page: Document): WebTool | undefined {
  if (!isRecord(tool)) return undefined;
  const { name, title, description, annotations, origin } = tool;
  const inputSchema = readSchema(tool.inputSchema);
  if (typeof name !== 'string' || inputSchema === undefined) return undefined;
  const hints = isRecord(annotations) ? annotations : {};
  return {
    name,
    inputSchema,
    handle: tool,
    title: typeof title === 'string' && title !== '' ? title : undefined,
    description: typeof description === 'string' ? description : '',
    isDebugging: hints.debugging === true,
    isConsequential: hints.consequentialHint === true,
    origin: typeof origin === 'string' ? origin : page.location.origin,
  };
}

function readSchema(schema: unknown): Record<string, unknown> | undefined {
  if (schema === undefined || schema === '') return { type: 'object', properties: {} };
  if (typeof schema !== 'string') return isRecord(schema) ? schema : undefined;
  try {
    const parsed: unknown = JSON.parse(schema);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    // No arguments can be made for a tool whose schema cannot be read.
    return undefined;
  }
}

/** Shared by all copies of the library in a page. */
const KEY = Symbol.for('callboard.web-mcp.published');

/** Names that this page has registered with its browser for the server: they came from there. */
function published(): Set<string> {
  const known: Set<string> | undefined = Reflect.get(globalThis, KEY);
  if (known) return known;
  const names = new Set<string>();
  Reflect.set(globalThis, KEY, names);
  return names;
}

/** A name is a tool's identity here: a browser takes each once in a document. */
export const isPublished = (name: string): boolean => published().has(name);

/** Keeps the name until the returned function is called. */
export function markPublished(name: string): () => void {
  published().add(name);
  return () => void published().delete(name);
}
