import type { MacState } from '../model/fleet.ts';
import { timeMachineDomain } from '../model/node-files.ts';
import { from, lines, row, type Tool, type ToolChange, unconfirmedUsage, type WriteView } from './tool.ts';

const noAccess = (verb: string): string =>
  lines(
    `tmutil: ${verb} requires Full Disk Access privileges.`,
    'To allow this operation, select Full Disk Access in the Privacy',
    'tab of the Security & Privacy preference pane, and add Terminal',
    'to the list of applications which are allowed Full Disk Access.',
  );

/** Changing backups requires both root and Full Disk Access. */
const switched =
  (verb: 'enable' | 'disable'): ToolChange =>
  ({ mac: { domains, ailments }, isRoot }) => {
    if (!isRoot) return { stderr: lines(`tmutil: ${verb} requires root privileges.`), exitCode: 1 };
    if (!ailments.hasFullDiskAccess) return { stderr: noAccess(verb), exitCode: 80 };
    const domain = { ...domains[timeMachineDomain], AutoBackup: verb === 'enable' };
    return { after: { domains: { ...domains, [timeMachineDomain]: domain } } };
  };

const switches = from.apple('tmutil(8): enable, disable; both need root and Full Disk Access');
const denied = from.published('"requires Full Disk Access privileges" with exit 80, quoted in many public issues');

/** `tmutil enable` and `tmutil disable`, which switch Time Machine's backups on and off. */
export const tmutil: Tool = {
  path: '/usr/bin/tmutil',
  writes: [
    { form: 'disable', source: switches, change: switched('disable') },
    { form: 'enable', source: denied, change: switched('enable') },
  ],
  usage: unconfirmedUsage('tmutil', 64, 'Usage: tmutil help <verb>'),
};

const volumes: readonly string[] = ['/', '/System/Volumes/Data', '/System/Volumes/Preboot'];

/** Volumes with their state, as mdutil prints them after a query and after a change. */
const indexingText = ({ indexed }: Pick<MacState, 'indexed'>, shown = volumes): string =>
  shown
    .map((volume) => `${volume}:\n\t${indexed.includes(volume) ? 'Indexing enabled. ' : 'Indexing disabled.'}\n`)
    .join('');

const states = from.published('a line with the volume, then a tab and "Indexing enabled. ", in many public guides');
const manual = from.apple('mdutil(1): -i on | off, for one volume or, with -a, for all');
const asUser = from.unconfirmed('without root, mdutil -a -i off changes nothing and exits with 1');

function index({ mac, isRoot }: WriteView, state: string | undefined, of: readonly string[]) {
  if (!isRoot) return { stderr: lines('Error: insufficient privileges.'), exitCode: 1 };
  const others = mac.indexed.filter((volume) => !of.includes(volume));
  const indexed = state === 'on' ? [...others, ...of] : others;
  return { after: { indexed }, stdout: indexingText({ indexed }, of) };
}

const indexAll: ToolChange = (view) => index(view, view.words[0], volumes);

const indexVolume: ToolChange = (view) => {
  const [state, volume = ''] = view.words;
  return volumes.includes(volume) ? index(view, state, [volume]) : undefined;
};

export const mdutil: Tool = {
  path: '/usr/bin/mdutil',
  rows: ({ mac }) => [row(['-a', '-s'], states, indexingText(mac))],
  writes: [
    { form: '-a -i on|off', source: manual, refusalSource: asUser, change: indexAll },
    { form: '-i on|off VOLUME', source: manual, refusalSource: asUser, change: indexVolume },
  ],
  usage: unconfirmedUsage('mdutil', 1, 'Usage: mdutil -pEsa -i (on|off) -d volume ...'),
};
