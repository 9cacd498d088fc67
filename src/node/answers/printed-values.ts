import { type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled, readLines } from './read-answer.ts';

/** One node of the I/O registry, with the properties that were asked for as `ioreg -x` prints them. */
export interface RegistryNode {
  readonly name: string;
  readonly properties: ReadonlyMap<string, string>;
}

/** Nodes that hang one below the other: from where `ioreg -r` begins down to the last one that it prints. */
export type RegistryPath = readonly [RegistryNode, ...RegistryNode[]];

// `  +-o acio0@1F00000  <class AppleARMIODevice, id 0x10000021c, registered, matched, active, busy 0, retain 9>`
const nodeForm = /^((?:[ |] )*)\+-o (\S(?:.*\S)?) {2}<class [\w.]+(?:, [\w!() ]+)*>$/;
// `  |   "AAPL,phandle" = <93000000>`
const propertyForm = /^((?:[ |] )+)"(port-location|acio-parent|AAPL,phandle|IOLocation)" = (\S.*)$/;

/** The paths in the text form of ioreg, each below its first node without branches; every other text is garbled. */
export function readRegistryPaths(answer: Answer | undefined): Known<readonly RegistryPath[]> {
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  if (lines.value.at(-1) !== 'end') return unknown('truncated', 'The list of registry nodes does not end.');
  const paths: RegistryNode[][] = [];
  for (const line of lines.value.slice(0, -1)) {
    const path = paths.at(-1) ?? [];
    const isRead = addNode(paths, path, line) || addProperty(path, line);
    if (!isRead) return garbled(answer, 'printed a line that is no node of one path and none of its properties');
  }
  return known(paths as unknown as readonly RegistryPath[]);
}

function addNode(paths: RegistryNode[][], path: RegistryNode[], line: string): boolean {
  const [, indent, place = ''] = nodeForm.exec(line) ?? [];
  if (indent === undefined) return false;
  const node = { name: place.replace(/@[0-9A-Fa-f,]+$/, ''), properties: new Map<string, string>() };
  if (indent === '') paths.push([node]);
  else if (indent.length === 2 * path.length) path.push(node);
  else return false;
  return true;
}

/** Properties are indented by three steps more than their node; none may be there twice. */
function addProperty(path: readonly RegistryNode[], line: string): boolean {
  const [, indent = '', key = '', value = ''] = propertyForm.exec(line) ?? [];
  const properties = path.at(-1)?.properties as Map<string, string> | undefined;
  if (properties === undefined || indent.length !== 2 * (path.length + 2) || properties.has(key)) return false;
  properties.set(key, value);
  return true;
}

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
  const missing = names.find((name) => !values.has(name));
  return missing === undefined ? known(names.map((name) => values.get(name) ?? '')) : without(answer, missing);
}

function without(answer: Answer | undefined, name: string): Known<never> {
  const isUnknownName = answer?.stderr.includes(`unknown oid '${name}'`) ?? false;
  return isUnknownName
    ? unknown('failed', `This macOS does not know sysctl ${name}.`)
    : garbled(answer, `did not print ${name}`);
}
