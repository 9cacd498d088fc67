import type { NodePath } from '../../../model/node-path.ts';
import type { MacState } from '../../model/fleet.ts';
import { lines, modelled, type TableTool, unconfirmed } from '../tool.ts';

const source = modelled('df-k.m3ultra-8tb.modelled.txt', 'public Zig test, Mac Studio M3 Ultra 8 TB');
const dataVolume: NodePath = { kind: 'node-path', path: '/System/Volumes/Data' };

/** Nine columns as wide as their longest entry; numbers stand to the right. */
/** A full disk has only the room that is left on it. */
function diskOf({ disk, ailments: { diskRoomBytes } }: MacState): MacState['disk'] {
  if (diskRoomBytes === undefined) return disk;
  const availableKib = Math.floor(diskRoomBytes / 1024);
  return { ...disk, usedKib: disk.usedKib + disk.availableKib - availableKib, availableKib };
}

function dataVolumeTable(mac: MacState): string {
  const { totalKib, usedKib, availableKib } = diskOf(mac);
  const device = '/dev/disk3s5';
  const inodesUsed = Math.floor(usedKib / 2900);
  const inodesFree = availableKib * 10;
  const share = (used: number, free: number): string => String(Math.ceil((used * 100) / (used + free)));
  const [total, used, available, iused, ifree] = [totalKib, usedKib, availableKib, inodesUsed, inodesFree].map(String);
  const cells = {
    total: total ?? '',
    used: used ?? '',
    available: available ?? '',
    iused: iused ?? '',
    ifree: ifree ?? '',
  };
  const width = {
    total: Math.max(11, cells.total.length),
    used: Math.max(10, cells.used.length),
    available: Math.max(10, cells.available.length),
    iused: Math.max(7, cells.iused.length),
    ifree: Math.max(5, cells.ifree.length),
  };
  return lines(
    `${'Filesystem'.padEnd(device.length)} ${'1024-blocks'.padStart(width.total)} ${'Used'.padStart(width.used)} ` +
      `${'Available'.padStart(width.available)} Capacity ${'iused'.padStart(width.iused - 2)} ` +
      `${'ifree'.padStart(width.ifree)} %iused  Mounted on`,
    `${device} ${cells.total.padStart(width.total)} ${cells.used.padStart(width.used)} ` +
      `${cells.available.padStart(width.available)} ${share(usedKib, availableKib).padStart(5)}% ` +
      `${cells.iused.padStart(width.iused)} ${cells.ifree.padStart(width.ifree)} ` +
      `${share(inodesUsed, inodesFree).padStart(4)}%   ${dataVolume.path}`,
  );
}

/** `df -k` of the data volume; the sealed system volume says nothing about the room for models. */
export const df: TableTool = {
  kind: 'table',
  path: '/bin/df',
  rows: ({ mac }) => [{ args: ['-k', dataVolume], source, stdout: dataVolumeTable(mac) }],
  usage: {
    text: lines(
      'usage: df [--libxo] [-b | -g | -H | -h | -k | -m | -P] [-acIilnY] [-,] [-T type] [-t type]',
      '          [file | filesystem ...]',
    ),
    exitCode: 64,
    source: unconfirmed("df's usage text and exit code 64"),
  },
};
