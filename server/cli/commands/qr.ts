import type { Command } from '../command.ts';
import { openPairing, printInvitation } from '../pairings.ts';

export const qrCommand: Command = {
  name: 'qr',
  parameters: '',
  summary: 'Begin a pairing and print its QR code, for a screen; a person decides elsewhere',
  counts: [0, 0],
  notes: ['"callboard pair <pairing id>" waits for the device and asks; the workbench asks too.'],
  async run(context) {
    const opened = await openPairing(context);
    context.out.document(opened);
    printInvitation(context, opened);
    context.out.line(`Pairing: ${opened.pairing_id}`);
    return 'ok';
  },
};
