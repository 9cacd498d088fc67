import type { DiskSpace } from '../../model/facts/mac.ts';
import { type Known, known } from '../../model/known.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { place } from '../../node/paths/node-paths.ts';
import { dataVolume } from '../../node/probes/system.ts';
import { defineFact } from '../fact.ts';

/** Device (blanks allowed), blocks, used, available, capacity, then on macOS three columns of inodes, mount point. */
const row = /^\S.{0,999}? {1,99}(\d+) +\d+ +(\d+) +\d+%(?: +\d+ +\d+ +\d+%)? +(\/.*)$/;

/**
 * Room on the data volume, from
 *
 *     Filesystem     1024-blocks       Used  Available Capacity iused       ifree %iused  Mounted on
 *     /dev/disk3s5    7811085600 4385517656    1000000    57% 1501896 33992116560    0%   /System/Volumes/Data
 */
export const diskSpaceFact = defineFact({
  name: 'disk-space',
  from: [dataVolume],
  parse: ([answer]): Known<DiskSpace> => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    const [head = '', ...rest] = lines.value;
    if (!/^Filesystem +1024-blocks +Used +Available +Capacity .*Mounted on$/.test(head)) {
      return garbled(answer, 'did not begin with its header line');
    }
    const rows = rest.map((line) => row.exec(line));
    if (rows.includes(null)) return garbled(answer, 'printed a line that is no volume');
    const data = rows.filter((one) => one?.[3] === place.dataVolume.path);
    const totalBlocks = wholeNumber(data[0]?.[1]);
    const freeBlocks = wholeNumber(data[0]?.[2]);
    if (data.length !== 1 || totalBlocks === undefined || freeBlocks === undefined || freeBlocks > totalBlocks) {
      return garbled(answer, 'did not describe the data volume');
    }
    return known({ totalBytes: totalBlocks * 1024, freeBytes: freeBlocks * 1024 });
  },
});
