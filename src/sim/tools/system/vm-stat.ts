import { wiredByMacos } from '../../model/fleet.ts';
import { capture, lines, type TableTool, unconfirmed, type View } from '../tool.ts';

const pageBytes = 16_384;

/** Shares of all pages as in the capture, which is of a Mac that had just loaded nothing. */
const shares = { active: 0.3296, inactive: 0.3364, speculative: 0.004, purgeable: 0.0027 };

/** The first line of one count: its name, and the number with a full stop, both to one width. */
const count = (name: string, pages: number, width = 53): string => {
  const head = `${name}:`;
  return `${head}${`${Math.round(pages)}.`.padStart(width - head.length)}`;
};

function text({ mac }: View): string {
  const all = Math.floor(mac.memoryBytes / pageBytes);
  const wired = (wiredByMacos(mac) + (mac.ailments.leakedWiredBytes ?? 0)) / pageBytes;
  const [active, inactive, speculative] = [all * shares.active, all * shares.inactive, all * shares.speculative];
  return lines(
    `Mach Virtual Memory Statistics: (page size of ${pageBytes} bytes)`,
    count('Pages free', Math.max(0, all - active - inactive - speculative - wired)),
    count('Pages active', active),
    count('Pages inactive', inactive),
    count('Pages speculative', speculative),
    count('Pages throttled', 0, 54),
    count('Pages wired down', wired),
    count('Pages purgeable', all * shares.purgeable),
  );
}

/** `vm_stat`: the first lines, which is all that was published of it. */
export const vmStat: TableTool = {
  kind: 'table',
  path: '/usr/bin/vm_stat',
  rows: (view) => [
    {
      args: [],
      source: capture('vm_stat.m3ultra-512.head.txt', 'research note of an Apple-cluster monitor'),
      stdout: text(view),
    },
  ],
  usage: {
    text: lines('usage: vm_stat [[-c count] interval]'),
    exitCode: 1,
    source: unconfirmed("vm_stat's usage text and exit code 1"),
  },
};
