import type { View } from '../../tools/tool.ts';
import { peerAt } from '../fleet.ts';
import { isBridged, liveAddress } from '../interfaces.ts';
import { isPortActive, isPortDead, rdmaDevice, rdmaReceptacles } from './rdma.ts';

/** What the RDMA devices of a Mac lead to, for simulated runtimes, which find it beside the table of link addresses. */
export const rdmaCablesPath = '/.sim/rdma-cables';

const none = '-';

/**
 * One line for each device: its name, the IPv4 address of its GID, whether its port is `active`, this Mac, and the Mac
 * and the device that it comes through to; `-` for what there is none of.
 */
export const rdmaCablesText = ({ fleet, mac }: View): string =>
  rdmaReceptacles(mac)
    .map((receptacle) => {
      const address = isBridged(mac, receptacle.device) ? undefined : liveAddress(fleet, mac, receptacle)?.address;
      const isActive = isPortActive(fleet, mac, receptacle);
      const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
      const isThrough = isActive && !isPortDead(mac, receptacle) && peer !== undefined;
      const far = isThrough && !isPortDead(peer.mac, peer.receptacle) ? peer : undefined;
      const end = far === undefined ? `${none} ${none}` : `${far.mac.name} ${rdmaDevice(far.receptacle)}`;
      return `${rdmaDevice(receptacle)} ${address ?? none} ${isActive ? 'active' : 'down'} ${mac.name} ${end}\n`;
    })
    .join('');
