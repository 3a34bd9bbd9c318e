import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { isRecord } from '#lib/json/is-record';
import type { TextEvent } from './call-body.ts';
import { CallParser, type OfferedTools } from './call-parser.ts';

type Part = LanguageModelV4StreamPart;

/**
 * A model without tool calling of its own, as one that has it: it is sent no tools, which its
 * prompt describes (`text-history.ts`), and the calls in its text become the parts of tool calls
 * that every model streams.
 */
export const withTextCalls = (model: LanguageModelV4): LanguageModelV4 =>
  wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      async wrapStream({ model: inner, params }) {
        const { tools, toolChoice: _, ...rest } = params;
        const result = await inner.doStream(rest);
        const calls = new TextCallStream(offeredTools(tools));
        const transform = new TransformStream<Part, Part>({
          transform(part, controller) {
            for (const one of calls.read(part)) controller.enqueue(one);
          },
        });
        return { ...result, stream: result.stream.pipeThrough(transform) };
      },
    },
  });

class TextCallStream {
  readonly #tools: OfferedTools;
  #parser: CallParser | undefined;
  #textId = '';
  #count = 0;
  #name = '';
  /** A call that is not closed where the text ends waits here. */
  #cut: Part | undefined;

  constructor(tools: OfferedTools) {
    this.#tools = tools;
  }

  read(part: Part): readonly Part[] {
    switch (part.type) {
      case 'text-start':
        this.#parser = new CallParser(this.#tools);
        this.#textId = part.id;
        return [part];
      case 'text-delta':
        return (this.#parser?.push(part.delta) ?? []).flatMap((event) => this.#partsOf(event));
      case 'text-end':
        return [...this.#endText(), part];
      case 'finish':
        return [...this.#endText(), ...this.#endOfCut(part), this.#finish(part)];
      default:
        return [part];
    }
  }

  #endText(): Part[] {
    const parts = (this.#parser?.end() ?? []).flatMap((event) => this.#partsOf(event));
    this.#parser = undefined;
    const isCut = parts.at(-1)?.type === 'tool-call';
    if (isCut) this.#cut = parts.pop();
    return parts;
  }

  /** A model that ended by itself is asked to write the call again; a stream that was cut has none. */
  #endOfCut({ finishReason }: Extract<Part, { type: 'finish' }>): Part[] {
    return this.#cut && finishReason.unified === 'stop' ? [this.#cut] : [];
  }

  #finish(part: Extract<Part, { type: 'finish' }>): Part {
    const isCalling = this.#count > 0 && part.finishReason.unified === 'stop';
    const finishReason = { ...part.finishReason, unified: 'tool-calls' as const };
    return isCalling ? { ...part, finishReason } : part;
  }

  #partsOf(event: TextEvent): Part[] {
    // No id of a provider has a blank: the model gave none.
    const id = `text call ${this.#count}`;
    switch (event.type) {
      case 'text':
        return [{ type: 'text-delta', id: this.#textId, delta: event.text }];
      case 'start':
        this.#count += 1;
        this.#name = event.name;
        return [{ type: 'tool-input-start', id: `text call ${this.#count}`, toolName: event.name }];
      case 'args':
        return [{ type: 'tool-input-delta', id, delta: event.text }];
      case 'end': {
        const { input } = event;
        const call = { type: 'tool-call', toolCallId: id, toolName: this.#name, input } as const;
        return [{ type: 'tool-input-end', id }, call];
      }
    }
  }
}

function offeredTools(tools: LanguageModelV4CallOptions['tools'] = []): OfferedTools {
  const schemas = new Map(
    tools.flatMap((tool) => (tool.type === 'function' ? [[tool.name, tool.inputSchema]] : [])),
  );
  return {
    names: new Set(schemas.keys()),
    isText: (name, key) => isText(schemas.get(name)?.properties?.[key]),
  };
}

/** Also of an argument that may be text among other things: then text is what was meant. */
function isText(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { type } = schema;
  return type === 'string' || (Array.isArray(type) && type.includes('string'));
}
