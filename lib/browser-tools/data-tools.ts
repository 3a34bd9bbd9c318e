import {
  type ClientToolContext,
  type ClientToolDefinition,
  type ToolAttachment,
  ToolFailure,
} from '../client/client-tool.ts';
import {
  choice,
  defineClientTool,
  flag,
  integer,
  list,
  optional,
  string,
} from '../client/tool-arguments.ts';
import { LIMITS } from '../protocol/limits.ts';
import { abortable } from '../util/abortable.ts';
import { errorMessage } from '../util/error-message.ts';
import { given } from '../util/given.ts';
import type { EnvOf } from './create-browser-env.ts';
import { readWebUrl } from './page-tools.ts';
import { isNotAllowed, permissionDenied, withPermission } from './with-permission.ts';
import { declined, withTouch, withTouchAndWayOut } from './with-touch.ts';

type ClipboardEnv = EnvOf<'permission' | 'clipboard' | 'prompts'>;

/** The text in the clipboard. */
export const createClipboardReadTool = (env: ClipboardEnv): ClientToolDefinition =>
  defineClientTool({
    name: 'clipboard.read',
    displayName: 'Read clipboard',
    description: 'Reads the text in the clipboard of this device. The person may be asked first.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 30_000,
    args: {},
    async run(_args, context) {
      const text = await use(env, 'read', context, () => env.clipboard.read());
      return { output: { text } };
    },
  });

/** Puts text into the clipboard. */
export const createClipboardWriteTool = (env: ClipboardEnv): ClientToolDefinition =>
  defineClientTool({
    name: 'clipboard.write',
    displayName: 'Write clipboard',
    description: 'Puts text into the clipboard of this device, in place of what is there.',
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    timeoutMs: 30_000,
    args: { text: string({ max: 1_000_000, description: 'The text to put there.' }) },
    async run({ text }, context) {
      await use(env, 'write', context, () => env.clipboard.write(text));
      return { output: { written_chars: text.length } };
    },
  });

const QUESTIONS = {
  read: ['Give the text in the clipboard?', 'to give the clipboard'],
  write: ['Put a text into the clipboard?', 'to have the clipboard written'],
} as const;

async function use<T>(
  env: ClipboardEnv,
  kind: 'read' | 'write',
  context: ClientToolContext,
  act: () => Promise<T>,
): Promise<T> {
  const [message, what] = QUESTIONS[kind];
  const question = { tool: `clipboard.${kind}`, message, what };
  const inTouch = () => withTouch(env.prompts, question, context, act);
  const name = `clipboard-${kind}` as const;
  try {
    if (await env.clipboard.needsTouch(kind)) return await inTouch();
    return await withPermission(env, name, context, act).catch(async (error: unknown) => {
      // Refused though nobody has denied it: a touch is what was missing.
      const isDenied = (await env.permission(name)) === 'denied';
      if (!isNotAllowed(error) || isNotFocused(error) || isDenied) throw error;
      return inTouch();
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof ToolFailure) throw error;
    if (isNotFocused(error)) {
      throw new ToolFailure(
        'unavailable',
        'The tab has to be in front, with the focus, for the clipboard.',
      );
    }
    if (isNotAllowed(error)) throw permissionDenied('The clipboard');
    throw new ToolFailure('unavailable', `The clipboard cannot be used: ${errorMessage(error)}`);
  }
}

/** Browsers refuse with the same error as for a denial; only the words differ. */
const isNotFocused = (error: unknown): boolean =>
  isNotAllowed(error) && /focus/i.test(errorMessage(error));

/** Files that the person chooses. */
export const createFileTool = ({
  files,
  prompts,
}: EnvOf<'files' | 'prompts'>): ClientToolDefinition =>
  defineClientTool({
    name: 'file.pick',
    displayName: 'Files',
    description:
      'Asks the person to choose files of this device, and returns these alone, beside the result. Pictures are written anew, so that they hold no place, time or camera, unless strip_metadata is false.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 120_000,
    args: {
      accept: optional(
        string({
          max: 200,
          description: 'Kinds of files, as in HTML, e.g. "image/*" or ".pdf,.txt"; all without it.',
        }),
      ),
      multiple: flag({
        default: false,
        description: `Whether several may be chosen, at most ${LIMITS.attachmentsPerResult}.`,
      }),
      max_bytes: integer({
        min: 1,
        max: LIMITS.attachmentBytes,
        default: LIMITS.attachmentBytes,
        description: 'Of each file; a larger one is refused.',
      }),
      strip_metadata: flag({
        default: true,
        description: 'Removes from pictures all but the pixels.',
      }),
      max_width: integer({
        min: 16,
        max: 8_192,
        default: 2_048,
        description: 'Of a picture without metadata, in pixels.',
      }),
    },
    async run({ accept, multiple, max_bytes, strip_metadata, max_width }, context) {
      const what = 'to choose files';
      const question = { tool: 'file.pick', message: 'Choose files to give?', what };
      const pick = (signal: AbortSignal) => files.pick({ accept, multiple }, signal);
      const chosen = await withTouchAndWayOut(prompts, question, context, pick);
      if (!chosen || chosen.length === 0) throw declined(what);
      if (chosen.length > LIMITS.attachmentsPerResult) throw tooMany(chosen.length);
      const given: Given[] = [];
      for (const file of chosen) {
        const isPicture = file.type.startsWith('image/') && file.type !== 'image/svg+xml';
        const one =
          strip_metadata && isPicture
            ? rewrite(files, file, max_width)
            : Promise.resolve(asIs(file));
        given.push(await abortable(context.signal, one));
      }
      for (const one of given) refuseLarge(one, max_bytes);
      return {
        output: { files: given.map(({ about }) => about) },
        attachments: given.map(({ attachment }) => attachment),
      };
    },
  });

interface Given {
  readonly about: Readonly<Record<string, unknown>> & {
    readonly name: string;
    readonly size: number;
  };
  readonly attachment: ToolAttachment;
}

/** Without a type the browser does not know what it is. */
function asIs(file: File): Given {
  const mediaType = file.type || 'application/octet-stream';
  return {
    about: { name: file.name, media_type: mediaType, size: file.size, metadata: 'kept' },
    attachment: { blob: file, mediaType, name: file.name },
  };
}

const ENDINGS = new Map([
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/webp', 'webp'],
]);

async function rewrite(
  files: EnvOf<'files'>['files'],
  file: File,
  maxWidth: number,
): Promise<Given> {
  const picture = await files.rewritePicture(file, { maxWidth }).catch((error: unknown) => {
    throw new ToolFailure(
      'unavailable',
      `${file.name} was not given: this browser cannot read the picture, so its metadata cannot be removed (${errorMessage(error)}). With "strip_metadata": false it is given as it is.`,
    );
  });
  const { blob, mediaType, width, height } = picture;
  const ending = ENDINGS.get(mediaType) ?? 'bin';
  const name =
    mediaType === file.type ? file.name : `${file.name.replace(/\.[^.]*$/, '')}.${ending}`;
  return {
    about: { name, media_type: mediaType, size: blob.size, width, height, metadata: 'removed' },
    attachment: { blob, mediaType, name, alt: `${name}, ${width} × ${height}` },
  };
}

const tooMany = (count: number): ToolFailure =>
  new ToolFailure(
    'result_too_large',
    `The person chose ${count} files; at most ${LIMITS.attachmentsPerResult} can be given at once.`,
  );

function refuseLarge({ about: { name, size } }: Given, maxBytes: number): void {
  if (size <= maxBytes) return;
  throw new ToolFailure(
    'result_too_large',
    `${name} has ${size} bytes; at most ${maxBytes} can be given.`,
  );
}

const PROPERTIES = ['name', 'email', 'tel', 'address'] as const;
/** A person who chooses all of a large address book. */
const MOST = 200;

/** Contacts that the person chooses in a window of the phone's own. */
export const createContactsTool = ({
  contacts,
  prompts,
}: EnvOf<'contacts' | 'prompts'>): ClientToolDefinition =>
  defineClientTool({
    name: 'contacts.pick',
    displayName: 'Contacts',
    description:
      'Asks the person to choose contacts from the address book of this device, and returns these alone. The address book cannot be searched.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 60_000,
    args: {
      properties: list(choice(PROPERTIES, { description: 'One of them.' }), {
        min: 1,
        max: PROPERTIES.length,
        default: ['name', 'tel', 'email'],
        description: 'What to return of each.',
      }),
      multiple: flag({ default: false, description: 'Whether several may be chosen.' }),
    },
    async run({ properties, multiple }, context) {
      const supported = await contacts.properties();
      const wanted = properties.filter((one) => supported.includes(one));
      if (wanted.length === 0) {
        throw new ToolFailure(
          'unavailable',
          `This browser gives ${supported.join(', ')} of a contact, and none of what was asked for.`,
        );
      }
      const what = 'to choose contacts';
      const question = { tool: 'contacts.pick', message: 'Choose contacts to give?', what };
      const select = () => contacts.select(wanted, { multiple });
      const chosen = await withTouch(prompts, question, context, select);
      // A window that was closed gives none.
      if (chosen.length === 0) throw declined(what);
      return {
        output: { contacts: chosen.slice(0, MOST), chosen: chosen.length, properties: wanted },
      };
    },
  });

/** Sends something by an app that the person chooses. */
export const createShareTool = ({
  share,
  prompts,
}: EnvOf<'share' | 'prompts'>): ClientToolDefinition =>
  defineClientTool({
    name: 'share.send',
    displayName: 'Share',
    description:
      'Offers a text or an address to the apps of this device; the person chooses which app gets it. At least one of title, text and url. Which app it was is not reported.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    timeoutMs: 60_000,
    args: {
      title: optional(string({ max: 200, description: 'What it is about.' })),
      text: optional(string({ max: 20_000, description: 'The text.' })),
      url: optional(string({ max: 2_000, description: 'An http or https address.' })),
    },
    async run({ title, text, url }, context) {
      const address = url === undefined ? undefined : readWebUrl(url);
      const content = given({ title, text, url: address });
      if (Object.keys(content).length === 0)
        throw new ToolFailure('invalid_args', 'share.send needs a title, a text or a url.');
      if (!share.canShare(content))
        throw new ToolFailure('unavailable', 'This browser cannot share such content.');
      const detail = [title, text, address].filter((one) => one !== undefined).join('\n');
      const question = { tool: 'share.send', message: 'Share this?', what: 'to share it', detail };
      await withTouch(prompts, question, context, () => share.send(content));
      return { output: { shared: true } };
    },
  });
