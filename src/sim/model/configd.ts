import type { SimulatedFleet } from './fleet.ts';
import { isCabled, withBridgeInterface } from './interfaces.ts';
import type { LiveNetwork, MacState } from './mac.ts';
import { bridgeIn } from './network-preferences.ts';

/** The bridge as the preferences want it. */
function bridgeFrom(mac: MacState): Pick<LiveNetwork, 'bridge'> {
  const bridge = bridgeIn(mac.preferences);
  return bridge === undefined ? {} : { bridge };
}

/**
 * The Mac after configd has read the preferences again: the bridge is there or gone as they say, and these interfaces
 * have the addresses of their services, whatever ifconfig did to them.
 */
export function configured(mac: MacState, devices: readonly string[]): MacState {
  const kept = Object.entries(mac.live.addresses).filter(([device]) => !devices.includes(device));
  return { ...mac, live: { ...bridgeFrom(mac), addresses: Object.fromEntries(kept) } };
}

/** The Mac with the network that a start makes, without anything that only the running system had. */
export function started(mac: MacState): MacState {
  const ready: MacState = { ...mac, live: { ...bridgeFrom(mac), addresses: {} } };
  return mac.ailments.isBridgeRebuilt ? withBridgeInterface(ready) : ready;
}

/**
 * What macOS does where a cable was plugged in: it puts the Thunderbolt Bridge together again, unless that is gone
 * from the preferences too (seen on Mac16,11; ifconfig alone does not last).
 */
export function hotPlugged(before: SimulatedFleet, after: SimulatedFleet): SimulatedFleet {
  if (before.cables === after.cables) return after;
  const macs = after.macs.map((mac) => {
    const old = before.macs.find((one) => one.name === mac.name);
    const isPlugged = mac.receptacles.some(
      (receptacle) => isCabled(after, mac, receptacle) && (old === undefined || !isCabled(before, old, receptacle)),
    );
    const bridge = bridgeIn(mac.preferences);
    return isPlugged && bridge !== undefined ? { ...mac, live: { ...mac.live, bridge } } : mac;
  });
  return { ...after, macs };
}
