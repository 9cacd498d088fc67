import { didYouMean } from '../../desired/did-you-mean.ts';
import { isCommandVerb, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';

/** What other tools call it, by what it is called here: an edit distance would lead from `top` to `stop`. */
const foreignCommands: Readonly<Record<string, readonly string[]>> = {
  apply: ['up', 'deploy', 'install', 'converge', 'provision', 'sync'],
  stop: ['down', 'kill'],
  status: ['ps', 'ls', 'list', 'top', 'get', 'show', 'info', 'watch'],
  exec: ['ssh', 'shell'],
  uninstall: ['destroy', 'remove', 'delete', 'purge'],
  doctor: ['recover', 'repair', 'fix', 'heal', 'diagnose'],
  plan: ['diff', 'preview'],
  'sim example': ['init', 'new', 'create'],
  validate: ['lint', 'check'],
  facts: ['describe', 'inspect'],
  logs: ['tail', 'log'],
  hold: ['cordon'],
  release: ['uncordon'],
  ask: ['chat', 'prompt'],
  shutdown: ['halt', 'poweroff'],
  enroll: ['join', 'bootstrap'],
  '--version': ['version'],
  '--help': ['man'],
};

/** The same of options; long ones with one typo are found by their letters. */
const foreignOptions: Readonly<Record<string, readonly string[]>> = {
  '--yes': ['-y', '--auto-approve', '-auto-approve', '--assume-yes'],
  '--json': ['-o', '-j', '--output', '--format'],
  '--nodes': ['-n', '--limit', '--host', '--hosts', '--target', '-target'],
  '--help': ['-?'],
};

/** Commands that end something: a slip of the finger must not lead there from a word that begins otherwise. */
const ending: readonly string[] = ['stop', 'restart', 'reboot', 'shutdown', 'drain', 'uninstall', 'forget', 'replace'];

const ownWord = (words: Readonly<Record<string, readonly string[]>>, typed: string): string | undefined =>
  Object.entries(words).find(([, others]) => others.includes(typed))?.[0];

/** The command that was most likely meant by a word that is none, among these names. */
export function meantCommand(typed: string, names: readonly string[]): string | undefined {
  const own = ownWord(foreignCommands, typed.toLowerCase());
  if (own !== undefined && (own.startsWith('--') || names.includes(own))) return own;
  const near = didYouMean(typed, names);
  const isRisky = near !== undefined && ending.includes(near) && near[0] !== typed[0]?.toLowerCase();
  return isRisky ? undefined : near;
}

/** What is typed here for an option of other tools; `--watch` has no counterpart but the shell's own. */
export function meantOption(typed: string, verb: string): Prose | undefined {
  if (typed === '-o' && verb === 'plan') return '--out';
  if (typed === '-n' && verb === 'logs') return '--lines';
  if (typed === '--dry-run') return [meshwright('plan')];
  if (typed === '--watch' || typed === '-w') {
    if (verb === 'cables') return '--watch';
    return isCommandVerb(verb) ? prose`watch -n 10 ${meshwright(verb)}` : undefined;
  }
  return ownWord(foreignOptions, typed);
}
