import { hasRdmaTools } from '../../model/macos-builds.ts';
import { apple, capture, unconfirmed } from '../source.ts';
import { lines, type Row, type TableTool } from '../tool.ts';

const status = capture('rdma_ctl-status.m3ultra.enabled.txt', 'research note of an Apple-cluster monitor');
const refused = capture('rdma_ctl-enable.outside-recovery.stderr.txt', 'github.com/SQCU/mesh');

const outsideRecovery = (verb: string): Row => ({
  args: [verb],
  source: refused,
  stderr: lines('rdma_ctl: This tool needs to be executed from Recovery OS.'),
  exitCode: 77,
});

/** `rdma_ctl`: one word about NVRAM; switching needs Recovery. Absent before macOS 26.2. */
export const rdmaCtl: TableTool = {
  kind: 'table',
  path: '/usr/bin/rdma_ctl',
  isPresent: (mac) => hasRdmaTools(mac.macos.version),
  rows: ({ mac }) => [
    {
      args: ['status'],
      source: mac.isRdmaEnabled ? status : apple('TN3205'),
      stdout: lines(mac.isRdmaEnabled ? 'enabled' : 'disabled'),
    },
    outsideRecovery('enable'),
    outsideRecovery('disable'),
  ],
  usage: {
    text: lines('usage: rdma_ctl [enable | disable | status]'),
    exitCode: 64,
    source: unconfirmed("rdma_ctl's usage text and exit code 64"),
  },
};
