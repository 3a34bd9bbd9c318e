import type { Command } from './command.ts';
import { approveCommand } from './commands/approve.ts';
import { backupCommand } from './commands/backup.ts';
import { callCommand } from './commands/call.ts';
import { devicesCommand } from './commands/devices.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { pairCommand, qrCommand } from './commands/pair.ts';
import { runsCommand } from './commands/runs.ts';
import { startCommand } from './commands/start.ts';
import { toolsCommand } from './commands/tools.ts';

export const COMMANDS: readonly Command[] = [
  startCommand,
  pairCommand,
  qrCommand,
  devicesCommand,
  toolsCommand,
  callCommand,
  runsCommand,
  approveCommand,
  doctorCommand,
  backupCommand,
  exportCommand,
];
