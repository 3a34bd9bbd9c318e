/**
 * The model check in a process of its own: it computes for most of a minute and waits for nothing,
 * so that it fills what the scenarios of a short torture leave of the cores, and yields to them.
 */
import { constants, setPriority } from 'node:os';
import { checkModel } from './check-model.ts';

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
process.stdout.write(JSON.stringify(checkModel({ isShort: process.argv[2] === 'short' })));
