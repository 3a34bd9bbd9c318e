/** The client library as one file of a build, so that a build with a guard taken out has it, too. */
export { createMemoryJournal } from '../../../lib/client/journal.ts';
export { createToolClient } from '../../../lib/client/tool-client.ts';
