import { nodeGuid, rdmaDevice, rdmaReceptacles } from '../../model/cables/rdma.ts';
import { hasRdmaTools } from '../../model/macos-builds.ts';
import { capture, unconfirmed } from '../source.ts';
import { lines, type TableTool } from '../tool.ts';
import { verbsHang } from './ibv-devinfo.ts';

const columns = (device: string, guid: string): string => `    ${device.padEnd(16)}${guid}`;

/** `ibv_devices`: two head lines, then one line per receptacle; head lines only without RDMA. */
export const ibvDevices: TableTool = {
  kind: 'table',
  path: '/usr/bin/ibv_devices',
  isPresent: (mac) => hasRdmaTools(mac.macos.version),
  rows: ({ mac }) =>
    mac.ailments.isVerbsHung
      ? []
      : [
          {
            args: [],
            source: capture('ibv_devices.m3ultra.six-ports.txt', 'research note of an Apple-cluster monitor'),
            stdout: lines(
              columns('device', '    node GUID'),
              columns('------', '----------------'),
              ...rdmaReceptacles(mac).map((receptacle) => columns(rdmaDevice(receptacle), nodeGuid(receptacle))),
            ),
          },
        ],
  patterns: [verbsHang("'0:'")],
  usage: {
    text: '',
    exitCode: 1,
    source: unconfirmed('ibv_devices takes no arguments; what it says to one is not known'),
  },
};
