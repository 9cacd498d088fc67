/** Loads test/cases/facts: one folder per published output, with the value that a person read from the output. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FactName, registry } from '../../../../src/engine/observe/facts.ts';
import type { Known } from '../../../../src/model/known.ts';
import type { Answer } from '../../../../src/model/probe.ts';

/** The folder of the cases. */
export const casesFolder = fileURLToPath(new URL('../../../cases/facts', import.meta.url));

/** The output of one command. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** One case: the output of each probe, and its meaning. */
export interface FactCase {
  readonly fact: FactName;
  readonly name: string;
  readonly title: string;
  /** For `services`: the label of the `launchctl print` output. */
  readonly label?: string;
  /** The answer of the fact's first probe, then the other answers of the case. */
  readonly printed: ReadonlyMap<string, Printed>;
  readonly expected: { readonly value?: unknown; readonly unknown?: string };
}

/** All cases of all facts. */
export function loadFactCases(): readonly FactCase[] {
  const factNames = readdirSync(casesFolder) as FactName[];
  return factNames.flatMap((fact) => readdirSync(join(casesFolder, fact)).map((name) => loadCase(fact, name)));
}

function loadCase(fact: FactName, name: string): FactCase {
  const folder = join(casesFolder, fact, name);
  const read = (file: string) => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : '');
  const own = { stdout: read('stdout.txt'), stderr: read('stderr.txt'), code: Number(read('exit.txt').trim()) };
  const printed = registry[fact].from.flatMap((probe, at): [string, Printed][] => {
    if (at === 0) return [[probe.name, own]];
    const stdout = read(`${probe.name}.stdout.txt`);
    const stderr = read(`${probe.name}.stderr.txt`);
    const code = Number(read(`${probe.name}.exit.txt`).trim());
    return stdout === '' && stderr === '' ? [] : [[probe.name, { stdout, stderr, code }]];
  });
  const label = read('label.txt').trim();
  return {
    fact,
    name,
    title: `${fact}/${name}`,
    printed: new Map(printed),
    expected: JSON.parse(read('expected.json')) as FactCase['expected'],
    ...(label === '' ? {} : { label }),
  };
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
