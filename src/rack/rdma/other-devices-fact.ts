import { type Known, known } from '../../model/known.ts';
import { ibvDevices, rdmaKernel } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';
import { isOfReceptacle, parseAllDevices } from './ibv-devices.ts';

/** RDMA devices of somebody else, such as a network card in an enclosure: nothing of ours runs over them. */
export const otherRdmaDevicesFact = defineFact({
  name: 'other-rdma-devices',
  from: [ibvDevices, rdmaKernel],
  parse: ([answer]): Known<readonly string[]> => {
    const all = parseAllDevices(answer);
    return all.kind === 'unknown'
      ? all
      : known(all.value.map(({ name }) => name.slice(0, 100)).filter((name) => !isOfReceptacle(name)));
  },
  source: 'ibv_devices',
});
