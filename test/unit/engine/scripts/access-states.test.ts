import { sh as engine } from '../../../../src/engine/scripts/scripts.generated.ts';
import { nodePath, place } from '../../../../src/node/paths/node-paths.ts';
import { sh } from '../../../../src/rack/access/scripts.generated.ts';
import { at, comparesTraces, empty, gone, tableOf } from './node-states.ts';

const keys = 'Users/mesh/.ssh/authorized_keys';
const own = 'ssh-ed25519 BBBB';
const addKey = `HOME="$R/Users/mesh"\n${sh.addKey({ key: own, mark: 'meshwright' })}`;
const line = `${own} meshwright\n`;
const added = '@key added exit 0';

const key = tableOf('the key of meshwright');
for (const [title, text, all] of [
  ['to an empty file', '', line],
  ['after the last line', 'a\n', `a\n${line}`],
  ['after a line without an end', 'a', `a\n${line}`],
  ['beside a longer key', `${own}B\n`, `${own}B\n${line}`],
  ['beside a comment', `# ${own}\n`, `# ${own}\n${line}`],
] as const)
  key(`is added ${title}`, addKey).in(at(keys, text)).ends(added, at(keys, all));
key('is added to a new file', addKey).in(empty('Users/mesh/')).ends(added, at(keys, line));
for (const [title, text] of [
  ['as it is', own],
  ['with a comment', `${own} ana@desk\n`],
  ['with options', `restrict ${own}\n`],
  ['with options and a comment', `restrict ${own} ana@desk\n`],
] as const)
  key(`is kept ${title}`, addKey).in(at(keys, text)).ends('@key kept exit 0', at(keys, text));

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

const rule = tableOf('the sudo rule of meshwright');
rule('is added to a new file', addRule)
  .in(empty('etc/'), visudo)
  .ends('@rule added 0 changed', at(file, `${header}mesh ALL\n`), gone(next));
rule('is added below the rules of others', addRule)
  .in(at(file, 'mesh2 ALL\n'), visudo)
  .ends('@rule added 0 changed', at(file, 'mesh2 ALL\nmesh ALL\n'));
rule('is kept', addRule).in(at(file, 'a\nmesh ALL'), visudo).ends('@rule kept 0 changed', at(file, 'a\nmesh ALL'), []);
rule('is not added if visudo refuses it', addRule)
  .in(empty('etc/'), at('usr/sbin/visudo', 'printf no; exit 1'))
  .ends('@refused visudo: no 1 changed', gone(file, next));
rule('is not added if its owner cannot be set', addRule)
  .in(empty('etc/'), visudo, at('usr/sbin/chown', 'exit 1'))
  .ends('@refused the rule could not be put in its place 1 changed', gone(file, next));
rule('is not added if its mode cannot be set', addRule)
  .in(empty('etc/'), visudo, at('bin/chmod', 'exit 1'))
  .ends('@refused the rule could not be put in its place 1 changed', gone(file, next));

const job = 'ops/k1';
const poll = engine.pollJob({ key: 'k1', folder: nodePath(`/${job}`) });
const runs = at('bin/ps', "printf '/bin/sh /x/k1/run\\n'");
const inJob = (name: string, text: string) => at(`${job}/${name}`, text);
const started = { ...inJob('job', 'name=x\n'), ...inJob('pid', '4711\n') };
const state = (word: string, ...more: readonly string[]): string => [`state=${word}`, ...more, 'end exit 0'].join(' ');

const polled = tableOf('the state of a job');
polled('is absent without a job', poll).in(inJob('pid', '4711\n'), runs).ends(state('absent'));
polled('is running', poll)
  .in(started, inJob('progress', '1 2\n'), inJob('peers', 'drop a\n'), runs)
  .ends(state('running', 'progress=1 2'));
polled('is gone without a process number', poll).in(inJob('job', ''), runs).ends(state('gone'));
polled('is gone if the process number is none', poll).in(started, inJob('pid', '47x\n'), runs).ends(state('gone'));
polled('is gone if another program has its process number', poll)
  .in(started, at('bin/ps', "printf '/bin/sh /x/k10/run\\n'"))
  .ends(state('gone'));
polled('is ended, with what its exchange reports', poll)
  .in(started, inJob('rc', '0\n'), inJob('note', 'n\n'), inJob('peers', 'drop a\nperl b\n'), runs)
  .ends(state('ended', 'rc=0', 'note=n', 'exchange=drop a', 'exchange=perl b'));

comparesTraces('access-states');
