import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { choice, flag, list } from '../client/tool-arguments.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import type { DeviceParts } from './device-parts.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { declined, withTouch } from './with-touch.ts';

interface Env {
  readonly contacts: NonNullable<DeviceParts['contacts']>;
  readonly prompts: DevicePrompts;
}

const PROPERTIES = ['name', 'email', 'tel', 'address'] as const;
/** A person who chooses all of a large address book. */
const MOST = 200;

/** Contacts that the person chooses in a window of the phone's own. */
export const createContactsTool = ({ contacts, prompts }: Env): ClientToolDefinition =>
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
