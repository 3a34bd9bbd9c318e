import { createMemoryJournal } from './client-instance.ts';
import { describeJournal } from './journal.contract.ts';

describeJournal('the memory journal', async ({ maxBytes }) =>
  createMemoryJournal({ epoch: 'epoch-1', maxBytes }),
);
