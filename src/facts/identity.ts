import { known } from '../model/known.ts';
import type { Fact } from './fact.ts';
import { isUuid } from './grammar.ts';
import { asList, asObject, textOf } from './json-value.ts';
import { hardwareProfile } from './probes/system.ts';
import { garbled, readJson } from './read-answer.ts';

/**
 * Which Mac it is, from `"serial_number"` and `"platform_UUID"` of `SPHardwareDataType`. `number_processors` comes
 * with three or four numbers by macOS version and is not read.
 */
export const identity: Fact<'identity'> = {
  name: 'identity',
  from: [hardwareProfile],
  parse: ([answer]) => {
    const json = readJson(answer);
    if (json.kind === 'unknown') return json;
    const items = asList(asObject(json.value)?.['SPHardwareDataType']);
    const item = items?.length === 1 ? asObject(items[0]) : undefined;
    if (item === undefined) return garbled(answer, 'described no hardware');
    const serial = textOf(item, 'serial_number') ?? '';
    const hardwareUuid = textOf(item, 'platform_UUID') ?? '';
    if (!/^[A-Z0-9]{8,20}$/.test(serial)) return garbled(answer, 'printed no serial number');
    if (!isUuid(hardwareUuid)) return garbled(answer, 'printed no hardware UUID');
    return known({ serial, hardwareUuid });
  },
};
