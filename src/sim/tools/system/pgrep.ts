import { modelProcesses } from '../../model/rdma.ts';
import { apple, lines, type TableTool } from '../tool.ts';

/** `pgrep ^ibv_`: the verbs tools among the processes of the model; those that run for real return at once. */
export const pgrep: TableTool = {
  kind: 'table',
  path: '/usr/bin/pgrep',
  rows: ({ mac }) => {
    const found = modelProcesses(mac).filter(({ program }) => program.startsWith('ibv_'));
    const source = apple('pgrep(1) of macOS: one number a line; exit 1 where no process matches');
    return [
      found.length === 0
        ? { args: ['^ibv_'], source, exitCode: 1 }
        : { args: ['^ibv_'], source, stdout: lines(...found.map(({ pid }) => String(pid))) },
    ];
  },
  usage: {
    text: lines(
      'usage: pgrep [-Lafilnoqvx] [-F pidfile] [-G gid]',
      '             [-P ppid] [-U uid] [-d delim] [-g pgrp]',
      '             [-t tty] [-u euid] pattern ...',
    ),
    exitCode: 2,
    source: apple('adv_cmds, pkill.c: usage'),
  },
};
