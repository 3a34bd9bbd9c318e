import { describeJournal } from './journal.contract.ts';
import { createMemoryJournal } from './journal.ts';

describeJournal('the memory journal', async ({ maxBytes }) =>
  createMemoryJournal({ epoch: 'epoch-1', maxBytes }),
);
