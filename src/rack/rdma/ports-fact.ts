import type { RdmaPort } from '../../model/facts/rdma.ts';
import { type Known, known } from '../../model/known.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { ibvDevices, ibvDevinfo, rdmaKernel } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';
import { parseIbvDevices } from './ibv-devices.ts';
import { parseIbvDevinfo } from './ibv-devinfo.ts';

/** State, GIDs and limits of each RDMA device; checked against the list of `ibv_devices` where that could be read. */
export const rdmaPortsFact = defineFact({
  name: 'rdma-ports',
  from: [ibvDevinfo, ibvDevices, rdmaKernel],
  parse: ([info, list]): Known<readonly RdmaPort[]> => {
    const ports = parseIbvDevinfo(info);
    if (ports.kind === 'unknown') return ports;
    const devices = parseIbvDevices(list);
    if (devices.kind === 'unknown') return ports;
    const described = ports.value.map(({ device }) => device).sort();
    const named = devices.value.map(({ name }) => name).sort();
    return named.join() === described.join() ? known(ports.value) : garbled(info, 'and ibv_devices name other devices');
  },
  source: 'ibv_devinfo -v',
});
