import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removedAfter } from './node-root.ts';
import { makeJobRoot } from './run-job.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeJobRoot);
const functions = readFileSync(join(import.meta.dirname, '../../../../src/node/shell/download-hours.sh'), 'utf8');

type Moment = readonly [hours: string, clock: string];
const named: readonly (readonly [...Moment, answer: string])[] = [
  ['22:00 06:00', '215959', 'outside'],
  ['22:00 06:00', '220000', '28800'],
  ['22:00 06:00', '235959', '21601'],
  ['22:00 06:00', '000000', '21600'],
  ['22:00 06:00', '055959', '1'],
  ['22:00 06:00', '060000', 'outside'],
  ['08:09 09:08', '080859', 'outside'],
  ['08:09 09:08', '080900', '3540'],
  ['08:09 09:08', '090800', 'outside'],
  ['00:00 23:59', '235930', 'outside'],
  ['23:00 00:00', '235960', 'outside'],
  ['', '120000', ''],
];

const two = (value: number): string => String(value).padStart(2, '0');
const minute = (of: number): string => `${two(Math.floor(of / 60) % 24)}:${two(of % 60)}`;

/** Counts the minutes of a day one by one, so that it shares no arithmetic with the script. */
function counted(begin: number, end: number, now: number): string {
  for (let at = begin, left = 0; at !== end; at = (at + 1) % 1_440) {
    if (at !== now) continue;
    for (let to = at; to !== end; to = (to + 1) % 1_440) left += 60;
    return String(left);
  }
  return 'outside';
}

const random = Array.from({ length: 40 }, (_, seed) => [
  (seed * 997) % 1_440,
  (seed * 613 + 5) % 1_440,
  (seed * 331) % 1_440,
]).flatMap(([begin = 0, end = 0, now = 0]): (readonly [string, string, string])[] =>
  begin === end
    ? []
    : [[`${minute(begin)} ${minute(end)}`, `${minute(now).replace(':', '')}00`, counted(begin, end, now)]],
);

describe('the hours for downloads', () => {
  it.each(scriptShells)('follow the local clock, even past midnight, in $name', (shell) => {
    const root = newRoot(shell);
    root.tool('bin/date', '[ "$*" = +%H%M%S ] || exit 64; IFS= read -r x <"$R/clock"; printf "%s\\n" "$x"');
    const [program, ...options] = shell.argv;
    const script = `export R=${JSON.stringify(root.folder)}; d=$R
failed() { printf 'failed %s\\n' "$1"; exit; }
${functions}
while IFS=, read -r h c; do
  printf '%s\\n' "$c" >"$R/clock"
  rm -f "$d/hours"
  [ -z "$h" ] || printf '%s\\n' "$h" >"$d/hours"
  if inhours; then printf '%s\\n' "$left"; else printf 'outside\\n'; fi
done`;
    const cases = [...named, ...random];
    const input = cases.map(([hours, clock]) => `${hours},${clock}\n`).join('');
    const ask = (lines: string): string[] =>
      execFileSync(program, [...options, script], { input: lines, encoding: 'utf8' })
        .trimEnd()
        .split('\n');
    expect(ask(input)).toEqual(cases.map(([, , answer]) => answer));
    expect(ask('22:00 06:00,\n')).toEqual(['failed clock']);
  });
});
