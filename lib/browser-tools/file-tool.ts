import type { ClientToolDefinition, ToolAttachment } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { flag, integer, optional, string } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { LIMITS } from '../protocol/limits.ts';
import { abortable } from '../util/abortable.ts';
import { errorMessage } from '../util/error-message.ts';
import type { DeviceParts } from './device-parts.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { declined, withTouchAndWayOut } from './with-touch.ts';

interface Env {
  readonly files: DeviceParts['files'];
  readonly prompts: DevicePrompts;
}

/** Files that the person chooses. */
export const createFileTool = ({ files, prompts }: Env): ClientToolDefinition =>
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

async function rewrite(files: Env['files'], file: File, maxWidth: number): Promise<Given> {
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
