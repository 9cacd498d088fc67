import { modelled, published, unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';

const lineOfList = modelled(
  'nvram-p.rdma-enable-on.reduced.txt',
  'dev7a/rdmalink, macOS 27.2, reduced to three variables',
);

/** `nvram NAME`: name and value with a tab between. RDMA that was never enabled has no variable. */
export const nvram: TableTool = {
  kind: 'table',
  path: '/usr/sbin/nvram',
  rows: ({ mac }) => [
    mac.isRdmaEnabled
      ? { args: ['rdma-enable'], source: lineOfList, stdout: lines('rdma-enable\t1') }
      : {
          args: ['rdma-enable'],
          source: published('terminal logs of other variables; nvram.c of Apple'),
          stderr: lines("nvram: Error getting variable - 'rdma-enable': (iokit/common) data was not found"),
          exitCode: 1,
        },
  ],
  usage: {
    text: lines('nvram: (usage: no arguments given)'),
    exitCode: 1,
    source: unconfirmed("nvram's usage text and exit code 1"),
  },
};
