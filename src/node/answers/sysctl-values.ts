import type { Answer } from '../../model/facts/probe.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { garbled, readLines } from './read-answer.ts';

/**
 * The values of the names asked for, in their order, from lines such as
 *
 *     hw.memsize: 549755813888
 *     machdep.cpu.brand_string: Apple M3 Ultra
 *
 * The tool ends with 1 when it does not know one name, and prints the others all the same.
 */
export function sysctlValues(answer: Answer | undefined, names: readonly string[]): Known<readonly string[]> {
  const lines = readLines(answer, { exits: [0, 1] });
  if (lines.kind === 'unknown') return lines;
  const values = new Map<string, string>();
  for (const line of lines.value) {
    const [, name = '', value = ''] = /^([a-z][\w.]*): (.*)$/.exec(line) ?? [];
    if (name === '' || values.has(name)) return garbled(answer, 'printed a line that is no value');
    values.set(name, value);
  }
  const found: string[] = [];
  for (const name of names) {
    const value = values.get(name);
    if (value === undefined) return without(answer, name);
    found.push(value);
  }
  return known(found);
}

function without(answer: Answer | undefined, name: string): Known<never> {
  const isUnknownName = answer?.stderr.includes(`unknown oid '${name}'`) ?? false;
  return isUnknownName
    ? unknown('failed', `This macOS does not know sysctl ${name}.`)
    : garbled(answer, `did not print ${name}`);
}
