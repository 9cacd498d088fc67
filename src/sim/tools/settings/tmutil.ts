import { withMac } from '../../model/fleet.ts';
import { timeMachineDomain } from '../../model/node-files.ts';
import {
  apple,
  lines,
  published,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

const manual = apple('tmutil(8): enable, disable; both want root and Full Disk Access');

const forms: readonly WriteForm[] = [
  { form: 'disable', match: "'1:disable'", source: manual },
  {
    form: 'enable',
    match: "'1:enable'",
    source: published('"requires Full Disk Access privileges" with exit 80, quoted in many public issues'),
  },
];

const noAccess = (verb: string): string =>
  lines(
    `tmutil: ${verb} requires Full Disk Access privileges.`,
    'To allow this operation, select Full Disk Access in the Privacy',
    'tab of the Security & Privacy preference pane, and add Terminal',
    'to the list of applications which are allowed Full Disk Access.',
  );

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const [verb = ''] = args;
  if (verb !== 'enable' && verb !== 'disable') return undefined;
  if (!isRoot) return { fleet, stderr: lines(`tmutil: ${verb} requires root privileges.`), exitCode: 1 };
  if (!mac.ailments.hasFullDiskAccess) return { fleet, stderr: noAccess(verb), exitCode: 80 };
  const domain = { ...mac.domains[timeMachineDomain], AutoBackup: verb === 'enable' };
  return {
    fleet: withMac(fleet, mac.name, (one) => ({ ...one, domains: { ...one.domains, [timeMachineDomain]: domain } })),
  };
}

/** Switches the backups of Time Machine on or off. */
const tmutilWrites: Writes = { forms, write };

/** `tmutil enable` and `tmutil disable`. */
export const tmutil: TableTool = {
  kind: 'table',
  path: '/usr/bin/tmutil',
  rows: () => [],
  writes: tmutilWrites,
  usage: {
    text: lines('Usage: tmutil help <verb>'),
    exitCode: 64,
    source: unconfirmed("tmutil's usage text and exit code 64"),
  },
};
