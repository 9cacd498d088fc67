import type { RdmaDevice } from '../../model/facts/rdma.ts';
import { type Known, known } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { leftAlone } from './left-alone.ts';

/**
 * The devices of `ibv_devices`, from two header lines and lines such as
 *
 *     rdma_en2        d0b5e9ab23cfac05
 *
 * Only those of Thunderbolt count (`rdma_en…`): other drivers may add their own. No device at all is a true answer:
 * RDMA is switched off, or the Mac has no Thunderbolt 5.
 */
export function parseIbvDevices(answer: Answer | undefined): Known<readonly RdmaDevice[]> {
  const all = parseAllDevices(answer);
  return all.kind === 'unknown' ? all : known(all.value.filter(({ name }) => isOfReceptacle(name)));
}

/** Whether a device is one that macOS makes for a Thunderbolt receptacle. */
export const isOfReceptacle = (name: string): boolean => /^rdma_en\d+$/.test(name);

/** Every device that is listed, whoever made it. */
export function parseAllDevices(answer: Answer | undefined): Known<readonly RdmaDevice[]> {
  const alone = leftAlone(answer);
  if (alone !== undefined) return alone;
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  const [first = '', second = '', ...rest] = lines.value;
  if (!/^\s*device\s+node GUID\s*$/.test(first) || !/^\s*-+\s+-+\s*$/.test(second)) {
    return garbled(answer, 'did not begin with its two header lines');
  }
  const devices: RdmaDevice[] = [];
  for (const line of rest) {
    const [, name = '', guid = ''] = /^\s*(\S+)\s+([0-9a-f]{16})\s*$/.exec(line) ?? [];
    if (guid === '') return garbled(answer, 'printed a line that is no device');
    devices.push({ name, guid });
  }
  const isUnambiguous = new Set(devices.map(({ name }) => name)).size === devices.length;
  return isUnambiguous ? known(devices) : garbled(answer, 'named one device twice');
}
