import type { ForeignDaemon } from '../model/fact-values.ts';
import { known, unknown } from '../model/known.ts';
import type { Fact } from './fact.ts';
import { knownDaemons } from './known-daemons.ts';
import { parseLaunchctlPrint } from './launchctl-print.ts';
import { foreignDaemonList } from './probes/ours.ts';
import { garbled } from './read-answer.ts';
import { type NodeRecord, readRecords } from './records.ts';

/** Whether launchd has loaded it; undefined for an answer that nobody can read. */
function isLoaded(code: string, lines: readonly string[]): boolean | undefined {
  if (code === '0') return parseLaunchctlPrint(lines) === undefined ? undefined : true;
  return code === '113' && lines.some((line) => line.startsWith('Could not find service ')) ? false : undefined;
}

/** `"LABEL" => disabled`, or `true` on older macOS; no line at all is no override. */
function isDisabled(label: string, code: string, lines: readonly string[]): boolean | undefined {
  const words = lines.map((line) => /^\s*"([^"]+)" => (disabled|enabled|true|false)$/.exec(line));
  const [first, ...more] = words;
  if (code !== '0' || more.length > 0) return undefined;
  if (words.length === 0) return false;
  return first?.[1] === label ? first[2] === 'disabled' || first[2] === 'true' : undefined;
}

const headForm = /^(daemon|override) ([a-z.]{1,100}) (\d{1,3})$/;

function daemonOf([daemon, override]: readonly NodeRecord[]): ForeignDaemon | undefined {
  const [, kind, label = '', code = ''] = headForm.exec(daemon?.head ?? '') ?? [];
  const [, otherKind, otherLabel, otherCode = ''] = headForm.exec(override?.head ?? '') ?? [];
  const isKnown = knownDaemons.some((one) => one.label === label);
  if (kind !== 'daemon' || otherKind !== 'override' || label !== otherLabel || !isKnown) return undefined;
  const loaded = isLoaded(code, daemon?.lines ?? []);
  const disabled = isDisabled(label, otherCode, override?.lines ?? []);
  return loaded === undefined || disabled === undefined ? undefined : { label, isLoaded: loaded, isDisabled: disabled };
}

/** Network daemons of others whose plist lies on the node. One that runs without its plist is gone with the next start. */
export const foreignDaemons: Fact<'foreign-daemons'> = {
  name: 'foreign-daemons',
  from: [foreignDaemonList],
  parse: ([answer]) => {
    const records = readRecords(answer);
    if (records.kind === 'unknown') return records;
    const pairs = records.value.flatMap((_, at) => (at % 2 === 0 ? [records.value.slice(at, at + 2)] : []));
    const found = pairs.map(daemonOf);
    const all = found.filter((one) => one !== undefined);
    if (all.length < found.length) return garbled(answer, 'said something of a daemon that cannot be read');
    const isUnambiguous = new Set(all.map(({ label }) => label)).size === all.length;
    return isUnambiguous ? known(all) : unknown('garbled', 'One daemon was described twice.');
  },
};
