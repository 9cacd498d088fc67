import type { FactsHardware } from '../../model/documents.generated.ts';
import type { Identity } from '../../model/facts/mac.ts';
import { type Known, known } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { memoryText } from '../../model/text/units.ts';
import { isName, isUuid, wholeNumber } from '../../node/answers/grammar.ts';
import { sysctlValues } from '../../node/answers/printed-values.ts';
import { asList, asObject, garbled, readJson, readLines, textOf } from '../../node/answers/read-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { sysctl } from '../../node/probes/sysctl.ts';
import { defineFact } from '../fact.ts';

/**
 * `system_profiler SPHardwareDataType -json`: serial number and hardware UUID, without root. It also looks up the
 * activation lock, which may wait for the network; in that case `platformDevice` answers.
 */
const hardwareProfile = probe('hardware-profile', [tool.systemProfiler, 'SPHardwareDataType', '-json'], 10_000, 65_536);

/** `ioreg` for the Mac itself: the same two ids from the kernel, without delay. @see ioreg(8) */
const platformDevice = probe('platform-device', [tool.ioreg, '-rd1', '-c', 'IOPlatformExpertDevice'], 5_000, 65_536);

/** The Mac's hardware, from `hw.model`, `machdep.cpu.brand_string` and `hw.memsize`. */
export const hardwareFact = defineFact({
  name: 'hardware',
  from: [sysctl],
  parse: ([answer]): Known<FactsHardware> => {
    const values = sysctlValues(answer, ['hw.model', 'machdep.cpu.brand_string', 'hw.memsize']);
    if (values.kind === 'unknown') return values;
    const [model = '', chip = '', memory] = values.value;
    const memoryBytes = wholeNumber(memory);
    if (!/^[A-Z][A-Za-z]{1,30}\d{1,4},\d{1,4}$/.test(model)) return garbled(answer, 'printed no model identifier');
    if (!isName(chip)) return garbled(answer, 'printed no chip name');
    if (memoryBytes === undefined || memoryBytes === 0) return garbled(answer, 'printed no memory size');
    return known({ model, chip, memoryBytes });
  },
  source: 'sysctl hw.model hw.memsize',
  text: ({ model, chip, memoryBytes }) => `${model}, ${chip}, ${memoryText(memoryBytes)}`,
});

/**
 * The Mac's identity, from `"serial_number"` and `"platform_UUID"` of `SPHardwareDataType`. `number_processors` has three
 * or four numbers, depending on the macOS version, and is not read. If system_profiler does not answer, the registry does:
 *
 *     +-o Mac  <class IOPlatformExpertDevice, id 0x100000225, registered, matched, active, busy 0 (2 ms), retain 39>
 *         {
 *           "IOPlatformUUID" = "…"
 *           "IOPlatformSerialNumber" = "…"
 */
export const identityFact = defineFact({
  name: 'identity',
  from: [hardwareProfile, platformDevice],
  parse: ([profile, device]): Known<Identity> => {
    const first = ofProfile(profile);
    const second = ofRegistry(device);
    if (second.kind === 'unknown') return first;
    if (first.kind === 'unknown') return second;
    const isSame = first.value.serial === second.value.serial && first.value.hardwareUuid === second.value.hardwareUuid;
    return isSame ? first : garbled(profile, 'and ioreg name two different Macs');
  },
  text: ({ serial, hardwareUuid }) => [`serial ${serial}`, `hardware UUID ${hardwareUuid}`],
});

function ofProfile(answer: Answer | undefined): Known<Identity> {
  const json = readJson(answer);
  if (json.kind === 'unknown') return json;
  const items = asList(asObject(json.value)?.['SPHardwareDataType']);
  const item = items?.length === 1 ? asObject(items[0]) : undefined;
  if (item === undefined) return garbled(answer, 'described no hardware');
  return checked(answer, textOf(item, 'serial_number'), textOf(item, 'platform_UUID'));
}

/** Accepts only one complete block, with each id once. */
function ofRegistry(answer: Answer | undefined): Known<Identity> {
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  const [head = '', ...rest] = lines.value;
  const values = (key: string): readonly string[] =>
    rest.flatMap((line) => new RegExp(`^ +"${key}" = "([^"]*)"$`).exec(line)?.[1] ?? []);
  const [serials, uuids] = [values('IOPlatformSerialNumber'), values('IOPlatformUUID')];
  const isWhole = /^\+-o .*<class IOPlatformExpertDevice,/.test(head) && rest.some((line) => /^ +\}$/.test(line));
  if (!isWhole || serials.length > 1 || uuids.length > 1) return garbled(answer, 'described no Mac');
  return checked(answer, serials[0], uuids[0]);
}

function checked(answer: Answer | undefined, serial = '', hardwareUuid = ''): Known<Identity> {
  if (!/^[A-Z0-9]{8,20}$/.test(serial)) return garbled(answer, 'printed no serial number');
  if (!isUuid(hardwareUuid)) return garbled(answer, 'printed no hardware UUID');
  return known({ serial, hardwareUuid });
}
