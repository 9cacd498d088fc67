/** Loads test/cases/facts: one file per published output, with the value that a person read from the output. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type FactName, registry } from '../../../../src/engine/observe/facts.ts';
import type { Known } from '../../../../src/model/known.ts';
import type { Answer } from '../../../../src/model/probe.ts';
import { sectionsOf } from '../../../case-file.ts';

/** The folder of the cases. */
export const casesFolder = fileURLToPath(new URL('../../../cases/facts/', import.meta.url));

/** The output of one command. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** One case: the output of each probe, and its meaning. */
export interface FactCase {
  readonly fact: FactName;
  readonly title: string;
  readonly source: string;
  readonly command: string;
  /** For `services`: the label of the `launchctl print` output. */
  readonly label?: string;
  /** The answer of the fact's first probe, then the other answers of the case. */
  readonly printed: ReadonlyMap<string, Printed>;
  /** Empty if the case has no such section yet. */
  readonly expected: { readonly value?: unknown; readonly unknown?: string };
}

/** All cases of all facts. */
export function loadFactCases(): readonly FactCase[] {
  const facts = readdirSync(casesFolder);
  return facts.flatMap((fact) =>
    readdirSync(casesFolder + fact).map((name) => loadFactCase(`${fact}/${name.replace(/\.txt$/, '')}`)),
  );
}

/** The case with this title. */
export function loadFactCase(title: string): FactCase {
  const fact = title.split('/')[0] as FactName;
  const [first, ...others] = registry[fact].from.map(({ name }) => name);
  const own = ['stdout', 'stderr', 'exit'];
  const names = [
    'command',
    'label',
    'expected',
    ...own,
    ...others.flatMap((name) => own.map((one) => `${name}.${one}`)),
  ];
  const sections = sectionsOf(readFileSync(`${casesFolder}${title}.txt`, 'utf8'), names);
  const read = (name: string) => sections.get(name) ?? '';
  const printedBy = (prefix: string): Printed => ({
    stdout: read(`${prefix}stdout`),
    stderr: read(`${prefix}stderr`),
    code: Number(read(`${prefix}exit`)),
  });
  const more = others
    .map((name): [string, Printed] => [name, printedBy(`${name}.`)])
    .filter(([, { stdout, stderr }]) => stdout !== '' || stderr !== '');
  const label = read('label').trim();
  return {
    fact,
    title,
    source: read('source'),
    command: read('command'),
    printed: new Map([[first ?? '', printedBy('')], ...more]),
    expected: JSON.parse(sections.get('expected') ?? '{}') as FactCase['expected'],
    ...(label === '' ? {} : { label }),
  };
}

/** The standard output of a probe in a case, by default of its fact's first probe. */
export function outputIn(title: string, probe?: string): string {
  const { printed } = loadFactCase(title);
  return (probe === undefined ? [...printed.values()][0] : printed.get(probe))?.stdout ?? '';
}

/** The start and end of an observation that took a second. */
export const asked = { sentAtEpochMs: 1_790_000_000_000, receivedAtEpochMs: 1_790_000_001_000 };

/** An answer that arrived completely. */
export const answer = (probe: string, printed: Partial<Printed>, more: Partial<Answer> = {}): Answer => ({
  probe,
  exit: { kind: 'exited', code: printed.code ?? 0 },
  stdout: printed.stdout ?? '',
  stderr: printed.stderr ?? '',
  isTruncated: false,
  isLate: false,
  isUtf8: true,
  ...more,
});

/** Converts the output of `launchctl print` to the form in which the node script returns it. */
export function asServiceRecord(label: string, printed: Printed): Printed {
  const lines = (printed.stdout + printed.stderr).split('\n').slice(0, -1);
  const text = [`service ${label} ${printed.code}`, ...lines.map((line) => `|${line}`), 'end', ''].join('\n');
  return { stdout: text, stderr: '', code: 0 };
}

/** Parses the answers of a case; `more` changes the answer of the first probe. */
export function parseCase(one: FactCase, changed = one.printed, more: Partial<Answer> = {}): Known<unknown> {
  const fact = registry[one.fact];
  const answers = fact.from.map(({ name }, at) => {
    const printed = changed.get(name);
    if (printed === undefined) return undefined;
    const sent = one.label !== undefined && at === 0 ? asServiceRecord(one.label, printed) : printed;
    return answer(name, sent, at === 0 ? more : {});
  });
  return fact.parse(answers, asked);
}
