import { clientsFunction, rdmaCountsPath } from '../../model/cables/rdma-kernel.ts';
import { apple, modelled } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';

const names = ['AppleThunderboltRDMAProtectionDomain', 'AppleThunderboltRDMAQueuePair'] as const;

const body = `if { read -r a b <"$r${rdmaCountsPath}"; } 2>/dev/null; then
    ${clientsFunction}
    client() { a=$((a + $4)) b=$((b + $5)); }
    clients
  else a='<no such class>' b='<no such class>'; fi
  printf '${names[0]} = %s, ${names[1]} = %s\\n' "$a" "$b"
  exit 0`;

/** `ioclasscount CLASS CLASS`: the objects of the RDMA driver, those included that are inactive. */
export const ioclasscount: TableTool = {
  kind: 'table',
  path: '/usr/sbin/ioclasscount',
  rows: () => [],
  patterns: [
    {
      match: `'2:${names.join(' ')}'`,
      body,
      source: modelled('ioclasscount.two-classes-zero.modelled.txt', "ioclasscount.c in Apple's IOKitTools"),
    },
  ],
  usage: {
    text: lines('usage: ioclasscount [<classname> ...]'),
    exitCode: 64,
    source: apple('IOKitTools, ioclasscount.c: usage'),
  },
};
