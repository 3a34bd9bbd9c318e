import { expect, test } from 'vitest';
import type { Principal } from '../auth/principal.ts';
import { throwingLogger as logger } from '../testing/error-log.ts';
import { createRefusedClaims } from './client-ids.ts';

const device = (id: string): Principal => ({
  ...{ kind: 'device', clientId: id, tokenId: `tok_${id}`, address: '192.168.1.7' },
});

test('[DV44] who names client ids of another principal is in the audit once for both, whatever the ids', async () => {
  const owners = new Map([
    ['desk', 'operator'],
    ['tab', 'operator'],
    ['lamp', 'device:lamp'],
    ['own', 'device:phone'],
  ]);
  const targets: (string | null)[] = [];
  const claimed = createRefusedClaims({
    store: { clientOwner: async (id) => owners.get(id) },
    audit: { record: async ({ target }) => void targets.push(target) },
    logger,
  });
  for (const id of ['desk', 'desk', 'tab', 'own', 'free', 'lamp']) claimed(device('phone'), id);
  claimed(device('watch'), 'tab');
  await expect.poll(() => targets).toEqual(['desk', 'lamp', 'tab']);
});
