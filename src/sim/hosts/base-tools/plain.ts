import { apple } from '../../tools/tool.ts';
import { type BaseTool, checkOptions, passOptions, shellQuote } from './wrapper.ts';

const manual = (name: string) => apple(`${name}(1) of macOS`);

const usageOf = (text: string, code: number) => ({ text, code });

/** Tools that a shell mostly has built in, and those that only start another one. */
export const plainTools: readonly BaseTool[] = [
  {
    path: '/bin/sleep',
    source: manual('sleep'),
    forms: 'seconds, with a fraction or without; no unit',
    usage: usageOf('usage: sleep seconds', 64),
    body: ({ host }) =>
      `case $#:$1 in (1:*[!0-9.]* | 1:) refused '' ;; (1:*) exec ${shellQuote(host)} "$1" ;; esac\nrefused ''`,
  },
  {
    path: '/bin/echo',
    source: apple('echo(1) of macOS: -n, and no escapes'),
    forms: '[-n] [text ...]',
    host: 'none',
    usage: usageOf('usage: echo [-n] [string ...]', 1),
    body: () => `case \${1-} in (-n) shift; printf '%s' "$*" ;; (*) printf '%s\\n' "$*" ;; esac`,
  },
  {
    path: '/bin/test',
    source: manual('test'),
    forms: 'as the shell has it',
    host: 'none',
    usage: usageOf('usage: test expression', 2),
    body: () => 'test "$@"',
  },
  {
    path: '/usr/bin/true',
    source: manual('true'),
    forms: 'any',
    host: 'none',
    usage: usageOf('usage: true', 0),
    body: () => 'exit 0',
  },
  {
    path: '/usr/bin/false',
    source: manual('false'),
    forms: 'any',
    host: 'none',
    usage: usageOf('usage: false', 1),
    body: () => 'exit 1',
  },
  {
    path: '/usr/bin/printf',
    source: manual('printf'),
    forms: 'as the shell has it',
    host: 'none',
    usage: usageOf('usage: printf format [arguments ...]', 1),
    body: () => '[ $# -gt 0 ] || refused \'\'\nprintf "$@"',
  },
  {
    path: '/usr/bin/env',
    source: manual('env'),
    forms: '[-i] [-u name] [name=value ...] [utility ...]',
    usage: usageOf(
      'usage: env [-0iv] [-u name] [name=value ...]\n       env [-iv] [-P altpath] [-u name] [name=value ...] utility [argument ...]',
      1,
    ),
    body: ({ host }) => `bare=
${checkOptions('iu:', 'case $o:$OPTARG in (i:* | u:PATH) bare=1 ;; esac')}
after $((OPTIND - 1)) starts "$@"
exec ${shellQuote(host)} "$@"`,
  },
  {
    path: '/usr/bin/nohup',
    source: manual('nohup'),
    forms: 'utility ...',
    usage: usageOf('usage: nohup [--] utility [arguments]', 127),
    body: ({ host }) => `case \${1--} in (-*) refused '' ;; esac\nstarts "$@"\nexec ${shellQuote(host)} "$@"`,
  },
  {
    path: '/usr/bin/basename',
    source: manual('basename'),
    forms: 'string [suffix]',
    usage: usageOf('usage: basename string [suffix]\n       basename [-a] [-s suffix] string [...]', 1),
    body: passOptions('', "[ $# -le 2 ] || refused ''\n"),
  },
  {
    path: '/usr/bin/dirname',
    source: manual('dirname'),
    forms: 'string ...',
    usage: usageOf('usage: dirname string [...]', 1),
    body: passOptions(''),
  },
];
