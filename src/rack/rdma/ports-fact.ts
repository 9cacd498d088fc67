import { known } from '../../model/known.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { ibvDevices, ibvDevinfo, rdmaKernel } from '../../node/probes/network.ts';
import type { Fact } from '../fact.ts';
import { parseIbvDevices } from './ibv-devices.ts';
import { parseIbvDevinfo } from './ibv-devinfo.ts';

/** State, GIDs and limits of each RDMA device; checked against the list of `ibv_devices` where that could be read. */
export const rdmaPorts: Fact<'rdma-ports'> = {
  name: 'rdma-ports',
  from: [ibvDevinfo, ibvDevices, rdmaKernel],
  parse: ([info, list]) => {
    const ports = parseIbvDevinfo(info);
    if (ports.kind === 'unknown') return ports;
    const devices = parseIbvDevices(list);
    if (devices.kind === 'unknown') return ports;
    const described = ports.value.map(({ device }) => device).sort();
    const named = devices.value.map(({ name }) => name).sort();
    return named.join() === described.join() ? known(ports.value) : garbled(info, 'and ibv_devices name other devices');
  },
};
