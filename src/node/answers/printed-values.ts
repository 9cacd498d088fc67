import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled, readLines } from './read-answer.ts';

/**
 * The values of the requested names, in the given order, from lines such as
 *
 * hw.memsize: 549755813888 machdep.cpu.brand_string: Apple M3 Ultra
 *
 * If a name is unknown, the tool exits with 1, but prints the other values anyway.
 */
export function sysctlValues(answer: Answer | undefined, names: readonly string[]): Known<readonly string[]> {
  const lines = readLines(answer, { exits: [0, 1] });
  if (lines.kind === 'unknown') return lines;
  const values = new Map<string, string>();
  for (const line of lines.value) {
    const [, name = '', value = ''] = /^([a-z][\w.]*): (.*)$/.exec(line) ?? [];
    if (name === '' || values.has(name)) return garbled(answer, 'printed a line without a value');
    values.set(name, value);
  }
  const missing = names.find((name) => !values.has(name));
  return missing === undefined ? known(names.map((name) => values.get(name) ?? '')) : without(answer, missing);
}

function without(answer: Answer | undefined, name: string): Known<never> {
  const isUnknownName = answer?.stderr.includes(`unknown oid '${name}'`) ?? false;
  return isUnknownName
    ? unknown('failed', `This macOS does not know sysctl ${name}.`)
    : garbled(answer, `did not print ${name}`);
}
