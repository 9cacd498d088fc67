import type { Word } from '../../model/probe.ts';
import { dataFile, type NodeFile, toolFile } from '../model/node-files.ts';
import { formPattern } from './forms.ts';
import type { NamedValue, Row, Tool, View } from './tool.ts';

/**
 * The line of sh by which a tool hands its words to the simulator and becomes its answer. It wants `$r`, the root
 * that the tool has found from its own path.
 */
const askSimulator = 'exec "$r/usr/bin/perl" "$r/.sim/ask" "$PWD" "${0#"$r"}" "$@"';

/**
 * At the head of every simulated tool, for bodies of patterns too: the function of sh by which a tool prints a file of
 * lines without another program. A missing file ends it with 1.
 */
const sayFunction = `say() {
  t= n='
'
  while IFS= read -r v; do t=$t$v$n; done <"$1" || exit 1
  printf '%s' "$t"
}
`;

/** The last part of a tool's path. */
const toolName = ({ path }: Tool): string => path.slice(path.lastIndexOf('/') + 1);

/** One word of sh that means exactly this text. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A word of a case pattern: literal, or a path below the root that the tool itself has found. */
const patternWord = (word: Word): string => (typeof word === 'string' ? quote(word) : `"$r"${quote(word.path)}`);

/** `2:-getinfo Ethernet` as a pattern of sh: the number of arguments, then all of them. */
const rowPattern = (row: Row): string =>
  row.args.length === 0 ? quote('0:') : `${row.args.length}:${row.args.map(patternWord).join("' '")}`;

/** Where the simulator keeps a file of the node as it wrote it last. */
export const seenCopy = (path: string): string => `/.sim/seen${path}`;

/** A file name that tells which command line the answer belongs to. */
function slug(row: Row): string {
  const words = row.args.map((word) => (typeof word === 'string' ? word : word.path));
  return words.length === 0 ? 'no-arguments' : words.join('_').replaceAll(/[^A-Za-z0-9._-]/g, '+');
}

/**
 * The shell finds its root from its own path without a fork; on a node without prefix the same expression gives the
 * empty string. Unknown arguments leave one line in `/.sim/unknown` and get the tool's own usage text.
 */
const head = (tool: Tool): string =>
  `#!/bin/sh\nr=\${0%${quote(tool.path)}}\na=$r/.sim/answers/${toolName(tool)}\n${sayFunction}`;

/** A shell reads its files byte by byte: up to here that costs less than to start another program. */
const saidCharacters = 1_500;

/** Commands of sh that print a stored answer; `what` is the text that lies there. */
function printed(file: string, what: string): string {
  const path = `"$a"/${quote(file)}`;
  const isSaid = what.length <= saidCharacters && what.endsWith('\n') && !what.includes('\0');
  return isSaid ? `say ${path}` : `/bin/cat ${path}`;
}

const tail = ({ path, usage }: Tool): string =>
  [
    'l=$*',
    "case $l in (*'\n'*) l='(arguments with a line break)' ;; esac",
    `printf '%s\\n' ${quote(path)}" $#:$l" >>"$r/.sim/unknown"`,
    '/bin/cat "$a/usage.err" >&2',
    `exit ${usage.exitCode}\n`,
  ].join('\n');

function rowBody(row: Row): string {
  const { ifUnchanged } = row;
  if (ifUnchanged === undefined) return storedAnswer(row);
  const [copy, file] = [seenCopy(ifUnchanged.path), patternWord(ifUnchanged)];
  return `/usr/bin/cmp -s "$r"${quote(copy)} ${file} || ${askSimulator}; ${storedAnswer(row)}`;
}

function storedAnswer(row: Row): string {
  const out = row.stdout === undefined ? '' : printed(`${slug(row)}.out`, row.stdout);
  const isCopied = out.startsWith('/bin/cat ') && row.stderr === undefined && (row.exitCode ?? 0) === 0;
  if (isCopied) return `exec ${out}`;
  const err = row.stderr === undefined ? '' : `${printed(`${slug(row)}.err`, row.stderr)} >&2`;
  return [out, err, `exit ${row.exitCode ?? 0}`].filter((part) => part !== '').join('; ');
}

/** Rows first, then what changes something, which the simulator itself judges, then whole families. */
function arms({ writes = [], patterns = [] }: Tool, rows: readonly Row[]): string {
  const known = [
    ...rows.map((row) => [rowPattern(row), rowBody(row)] as const),
    ...writes.map(({ form, match }) => [match ?? formPattern(form), askSimulator] as const),
    ...patterns.map(({ match, body }) => [match, body] as const),
  ];
  return `case "$#:$*" in\n${known.map(([match, body]) => `(${match}) ${body} ;;\n`).join('')}esac\n`;
}

/** Names and values as `sysctl` answers them: unknown ones are complained about, the others still printed. */
function namesAnswer(tool: Tool, values: readonly NamedValue[]): string {
  return [
    "n=0 s=0\ncase ${1-} in ('-n') n=1; shift ;; esac\n",
    "case ${1-} in ('' | -*) ;; (*)\nfor o do\n  case $o in\n",
    ...values.map(({ name, value }) => `  (${quote(name)}) v=${quote(value)} ;;\n`),
    `  (*) case $o in (*[!A-Za-z0-9._=-]*) l='(a name that is none)' ;; (*) l=$o ;; esac\n`,
    `    printf '%s\\n' ${quote(tool.path)}" 1:$l" >>"$r/.sim/unknown"; s=1\n`,
    `    printf "${toolName(tool)}: unknown oid '%s'\\n" "$o" >&2; continue ;;\n  esac\n`,
    '  case $n in (1) printf \'%s\\n\' "$v" ;; (*) printf \'%s: %s\\n\' "$o" "$v" ;; esac\ndone\nexit $s ;;\nesac\n',
  ].join('');
}

function rowFiles(tool: Tool, row: Row): readonly NodeFile[] {
  const path = `/.sim/answers/${toolName(tool)}/${slug(row)}`;
  const out = row.stdout === undefined ? [] : [dataFile(`${path}.out`, row.stdout)];
  return row.stderr === undefined ? out : [...out, dataFile(`${path}.err`, row.stderr)];
}

/** The files of one tool on one Mac: the script and its answers; none when this Mac does not have the tool. */
export function toolFiles(tool: Tool, view: View): readonly NodeFile[] {
  if (tool.isPresent?.(view.mac) === false) return [];
  const rows = tool.rows?.(view) ?? [];
  const names = tool.values === undefined ? '' : namesAnswer(tool, tool.values(view));
  return [
    toolFile(tool.path, head(tool) + arms(tool, rows) + names + tail(tool)),
    ...rows.flatMap((row) => rowFiles(tool, row)),
    dataFile(`/.sim/answers/${toolName(tool)}/usage.err`, tool.usage.text),
  ];
}
