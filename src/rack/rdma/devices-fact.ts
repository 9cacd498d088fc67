import type { RdmaDevice } from '../../model/facts/rdma.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { ibvDevices, ibvDevinfo, rdmaKernel } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';
import { parseIbvDevices } from './ibv-devices.ts';
import { parseIbvDevinfo } from './ibv-devinfo.ts';

/**
 * The RDMA devices of this Mac's Thunderbolt receptacles. `ibv_devices` prints no end, so `ibv_devinfo`, where it
 * could be read, must name the same ones; where it could not, a list without any device is not taken for "none".
 */
export const rdmaDevicesFact = defineFact({
  name: 'rdma-devices',
  from: [ibvDevices, ibvDevinfo, rdmaKernel],
  parse: ([list, info]): Known<readonly RdmaDevice[]> => {
    const devices = parseIbvDevices(list);
    if (devices.kind === 'unknown') return devices;
    const ports = parseIbvDevinfo(info);
    if (ports.kind === 'unknown' && devices.value.length > 0) return devices;
    if (ports.kind === 'unknown') {
      return unknown(ports.reason, `ibv_devices lists no device, and nothing confirms it: ${ports.detail}`);
    }
    const named = devices.value.map(({ name }) => name).sort();
    const described = ports.value.map(({ device }) => device).sort();
    return named.join() === described.join()
      ? known(devices.value)
      : garbled(list, 'and ibv_devinfo name other devices');
  },
  source: 'ibv_devices',
});
