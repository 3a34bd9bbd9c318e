import {
  type ClientToolContext,
  type ClientToolDefinition,
  ToolFailure,
} from '../client/client-tool.ts';
import { defineClientTool, number, optional, string } from '../client/tool-arguments.ts';
import { abortable } from '../util/abortable.ts';
import { errorMessage } from '../util/error-message.ts';
import type { DevicePrompts } from './browser-env.ts';
import type { EnvOf } from './create-browser-env.ts';
import { SpeechError } from './parts/create-speech.ts';
import { permissionDenied, withPermission } from './with-permission.ts';
import { type TouchQuestion, withTouch } from './with-touch.ts';

const language = optional(
  string({
    min: 2,
    max: 35,
    description: 'BCP 47, e.g. en-GB or zh-CN; else that of the browser.',
  }),
);

/** Speaks a text. */
export const createSpeakTool = (env: EnvOf<'voice' | 'prompts'>): ClientToolDefinition =>
  defineClientTool({
    name: 'speech.say',
    displayName: 'Speak',
    description:
      'Speaks a text aloud at this device, and returns when it has been spoken. Fails where the browser has no voice for the language.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    timeoutMs: 300_000,
    args: {
      text: string({ min: 1, max: 5_000, description: 'The words to speak.' }),
      language,
      rate: number({ min: 0.5, max: 2, default: 1, description: 'How fast; 1 is usual.' }),
    },
    async run({ text, language, rate }, context) {
      const speak = () => env.voice.speak({ text, language, rate }, context.signal);
      const what = 'to have a text spoken';
      const question = { tool: 'speech.say', message: 'Speak a text aloud?', what, detail: text };
      const ways = { begin: speak, act: speak };
      const { voice } = await orInTouch(ways, question, env.prompts, context);
      return { output: { spoken_chars: text.length, ...(voice !== undefined && { voice }) } };
    },
  });

/** Browsers refuse speech on a page that no person has touched: then the person is asked for a touch. */
async function orInTouch<T>(
  { begin, act }: { begin: () => Promise<T>; act: () => Promise<T> },
  question: TouchQuestion,
  prompts: DevicePrompts,
  context: ClientToolContext,
): Promise<T> {
  const { signal } = context;
  try {
    return await abortable(signal, begin());
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SpeechError && error.reason === 'not-allowed')) throw explain(error);
  }
  return withTouch(prompts, question, context, () => act().catch(failed));
}

/** Recognizes what the person says. */
export const createListenTool = (
  env: EnvOf<'permission' | 'listening' | 'prompts'>,
): ClientToolDefinition =>
  defineClientTool({
    name: 'speech.listen',
    displayName: 'Listen',
    description:
      'Listens at this device until the person stops speaking, and returns the words. Some browsers send the sound to a service of their maker. The person may be asked first.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 60_000,
    args: { language },
    async run({ language }, context) {
      const { signal } = context;
      const onPart = (text: string) => context.status({ tip: text });
      const listen = () => env.listening.listen({ language, onPart }, signal);
      const begin = async () => {
        const isDenied = (await env.permission('microphone')) === 'denied';
        // It would be refused with the word for a missing touch.
        if (isDenied) throw permissionDenied('The microphone');
        return withPermission(env, 'microphone', context, listen);
      };
      const question = { tool: 'speech.listen', message: 'Listen to you?', what: 'to be heard' };
      const ways = { begin, act: listen };
      const { text, confidence } = await orInTouch(ways, question, env.prompts, context);
      return { output: { text, confidence, ...(language !== undefined && { language }) } };
    },
  });

const failed = (error: unknown): never => {
  throw explain(error);
};

/** By the browser's word for it. */
const REASONS: Readonly<Record<string, string>> = {
  'no-voice': 'This browser has no voice, so it cannot speak.',
  'language-unavailable': 'This browser has no voice for that language.',
  'voice-unavailable': 'The voice for that language cannot be used now.',
  'language-not-supported': 'This browser does not recognize that language.',
  'no-speech': 'No words were recognized. Ask the person to speak, and repeat the call.',
  'audio-capture': 'No microphone can be used.',
  network: 'The service with which this browser recognizes speech cannot be reached.',
  'synthesis-failed': 'The speech of this device failed.',
  'audio-busy': 'Another program uses the sound of this device now.',
  interrupted: 'Another speech took its place.',
  aborted: 'The browser stopped listening.',
};

function explain(error: unknown): unknown {
  if (!(error instanceof SpeechError)) return error;
  const { reason } = error;
  if (reason === 'not-allowed' || reason === 'service-not-allowed')
    return permissionDenied('Speech');
  return new ToolFailure('unavailable', REASONS[reason] ?? `It failed: ${errorMessage(error)}.`);
}
