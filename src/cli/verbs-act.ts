import type { Verb } from './verb.ts';
import { atOnce } from './verb-uses.ts';

const group = 'Act:';

/** Verbs that act on what is there, in the order of the help. */
export const actVerbs: readonly Verb[] = [
  {
    name: 'ask',
    group,
    summary: 'ask a placement something, and print the answer',
    words: '[placement] [text...]',
    uses: ['file', 'reach', 'json'],
    options: [{ flags: '--max-tokens <count>', text: 'of the answer; 256 unless given' }],
    more: `The question goes over SSH to the endpoint on the leader itself.
Exit 0: there is an answer. 1: there is none; it says why.

Examples:
  meshwright ask kimi "What is a receptacle?"
  meshwright ask kimi "Write a poem" --max-tokens 2000 --deadline 5m`,
    load: async () => (await import('./commands/ask.ts')).ask,
  },
  {
    name: 'exec',
    group,
    summary: 'run one command on nodes, as the ssh user',
    words: '[node...]',
    tail: '-- COMMAND [word...]',
    uses: atOnce,
    options: [{ flags: '--all', text: 'every node of the file' }],
    more: `The words behind -- reach the node exactly as they are, as one command and its
arguments; no shell looks into them. For a pipe say: -- sh -c 'a | b'
Exit 0: it ended with 0 everywhere. 1: nowhere. 4: on some nodes.

Examples:
  meshwright exec --all -- sw_vers
  meshwright exec studio-1 studio-2 -- sysctl iogpu.wired_limit_mb`,
    load: async () => (await import('./commands/exec.ts')).exec,
  },
];
