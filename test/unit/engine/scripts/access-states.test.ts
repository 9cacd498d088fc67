import { sh as engine } from '../../../../src/engine/scripts/scripts.generated.ts';
import { nodePath, place } from '../../../../src/node/paths/node-paths.ts';
import { sh } from '../../../../src/rack/access/scripts.generated.ts';
import { itInEachState } from './node-states.ts';

const keys = 'Users/mesh/.ssh/authorized_keys';
const own = 'ssh-ed25519 BBBB';
const addKey = `HOME="$R/Users/mesh"\n${sh.addKey({ key: own, mark: 'meshwright' })}`;
const line = `${own} meshwright\n`;
const [added, kept] = ['@key added exit 0', '@key kept exit 0'];

itInEachState('the key of meshwright', [
  ['is added to a new file', addKey, { files: { 'Users/mesh/': '' } }, { ends: added, leaves: { [keys]: line } }],
  ['is added to an empty file', addKey, { files: { [keys]: '' } }, { ends: added, leaves: { [keys]: line } }],
  [
    'is added after the last line',
    addKey,
    { files: { [keys]: 'a\n' } },
    { ends: added, leaves: { [keys]: `a\n${line}` } },
  ],
  [
    'is added after a line without an end',
    addKey,
    { files: { [keys]: 'a' } },
    { ends: added, leaves: { [keys]: `a\n${line}` } },
  ],
  [
    'is added beside a longer key',
    addKey,
    { files: { [keys]: `${own}B\n` } },
    { ends: added, leaves: { [keys]: `${own}B\n${line}` } },
  ],
  [
    'is added beside a comment',
    addKey,
    { files: { [keys]: `# ${own}\n` } },
    { ends: added, leaves: { [keys]: `# ${own}\n${line}` } },
  ],
  ['is kept', addKey, { files: { [keys]: own } }, { ends: kept, leaves: { [keys]: own } }],
  [
    'is kept with a comment',
    addKey,
    { files: { [keys]: `${own} ana@desk\n` } },
    { ends: kept, leaves: { [keys]: `${own} ana@desk\n` } },
  ],
  [
    'is kept with options',
    addKey,
    { files: { [keys]: `restrict ${own}\n` } },
    { ends: kept, leaves: { [keys]: `restrict ${own}\n` } },
  ],
  [
    'is kept with options and a comment',
    addKey,
    { files: { [keys]: `restrict ${own} ana@desk\n` } },
    { ends: kept, leaves: { [keys]: `restrict ${own} ana@desk\n` } },
  ],
]);

const file = 'etc/sudoers.d/meshwright';
const next = 'etc/sudoers.d/.meshwright.new';
const addRule = `(${sh.addSudoRule({
  folder: place.sudoersFolder,
  file: place.sudoersDropIn,
  new: nodePath(`/${next}`),
  rule: '\nmesh ALL',
})})
printf '%s\\n' "$?"
changed`;
const header = '# meshwright: lets this account run its scripts as root. Remove this file to end that.\n';
const visudo = { 'usr/sbin/visudo': 'exit 0' };

itInEachState('the sudo rule of meshwright', [
  [
    'is added to a new file',
    addRule,
    { files: { 'etc/': '' }, tools: visudo },
    { ends: '@rule added 0 changed', leaves: { [file]: `${header}mesh ALL\n`, [next]: null } },
  ],
  [
    'is added below the rules of others',
    addRule,
    { files: { [file]: 'mesh2 ALL\n' }, tools: visudo },
    { ends: '@rule added 0 changed', leaves: { [file]: 'mesh2 ALL\nmesh ALL\n' } },
  ],
  [
    'is kept',
    addRule,
    { files: { [file]: 'a\nmesh ALL' }, tools: visudo },
    { ends: '@rule kept 0 changed', leaves: { [file]: 'a\nmesh ALL' }, calls: [] },
  ],
  [
    'is not added if visudo refuses it',
    addRule,
    { files: { 'etc/': '' }, tools: { 'usr/sbin/visudo': 'printf no; exit 1' } },
    { ends: '@refused visudo: no 1 changed', leaves: { [file]: null, [next]: null } },
  ],
  [
    'is not added if its owner cannot be set',
    addRule,
    { files: { 'etc/': '' }, tools: { ...visudo, 'usr/sbin/chown': 'exit 1' } },
    { ends: '@refused the rule could not be put in its place 1 changed', leaves: { [file]: null, [next]: null } },
  ],
  [
    'is not added if its mode cannot be set',
    addRule,
    { files: { 'etc/': '' }, tools: { ...visudo, 'bin/chmod': 'exit 1' } },
    { ends: '@refused the rule could not be put in its place 1 changed', leaves: { [file]: null, [next]: null } },
  ],
]);

const job = 'ops/k1';
const poll = engine.pollJob({ key: 'k1', folder: nodePath(`/${job}`) });
const runs = { 'bin/ps': "printf '/bin/sh /x/k1/run\\n'" };
const started = { [`${job}/job`]: 'name=x\n', [`${job}/pid`]: '4711\n' };
const state = (word: string, ...more: readonly string[]): string => [`state=${word}`, ...more, 'end exit 0'].join(' ');

itInEachState('the state of a job', [
  ['is absent without a job', poll, { files: { [`${job}/pid`]: '4711\n' }, tools: runs }, { ends: state('absent') }],
  [
    'is running',
    poll,
    { files: { ...started, [`${job}/progress`]: '1 2\n', [`${job}/peers`]: 'drop a\n' }, tools: runs },
    { ends: state('running', 'progress=1 2') },
  ],
  ['is gone without a process number', poll, { files: { [`${job}/job`]: '' }, tools: runs }, { ends: state('gone') }],
  [
    'is gone if the process number is none',
    poll,
    { files: { ...started, [`${job}/pid`]: '47x\n' }, tools: runs },
    { ends: state('gone') },
  ],
  [
    'is gone if another program has its process number',
    poll,
    { files: started, tools: { 'bin/ps': "printf '/bin/sh /x/k10/run\\n'" } },
    { ends: state('gone') },
  ],
  [
    'is ended, with what its exchange reports',
    poll,
    {
      files: { ...started, [`${job}/rc`]: '0\n', [`${job}/note`]: 'n\n', [`${job}/peers`]: 'drop a\nperl b\n' },
      tools: runs,
    },
    { ends: state('ended', 'rc=0', 'note=n', 'exchange=drop a', 'exchange=perl b') },
  ],
]);
