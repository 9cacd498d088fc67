/** Compares a node's network with its baseline: all differences, and those that `uninstall --restore` restores. */

import type {
  BridgePreference,
  Facts,
  Ipv4Address,
  NetworkService,
  ServiceAddress,
} from '../../model/facts/fact-values.ts';
import type { Baseline } from '../../model/facts/node-records.ts';
import { given } from '../../model/given.ts';
import { andThen, type Known, mapKnown, unknown } from '../../model/known.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import type { Answer } from '../../model/probe.ts';
import { receptacleDevices } from '../addresses/reading.ts';
import { bridgePreferencesFact } from '../bridge/fact.ts';
import { read } from '../fact.ts';
import { isSameAddress, serviceAddressesFact } from '../network/service-addresses-fact.ts';
import { networkServicesFact } from '../network/services-fact.ts';

type Restoration = ScriptArgs['restore-network'];

interface NetworkBefore {
  readonly services: readonly NetworkService[];
  readonly addresses: readonly ServiceAddress[];
  readonly bridges: readonly BridgePreference[];
}

const never = { sentAtEpochMs: 0, receivedAtEpochMs: 0 };

/** Turns a recorded text back into the tool's answer; plutil exits with 1 and a message if a key is missing. */
function answerOf({ values }: Baseline, key: string): Answer | undefined {
  const text = values.find((one) => one.key === key)?.text;
  if (text === undefined) return undefined;
  const code = key === 'service-order' || /^(?:\{|<\?xml )/.test(text) ? 0 : 1;
  const exit = { kind: 'exited', code } as const;
  return { probe: key, exit, stdout: `${text}\n`, stderr: '', isTruncated: false, isLate: false, isUtf8: true };
}

function networkBefore(baseline: Baseline): Known<NetworkBefore> {
  const order = answerOf(baseline, 'service-order');
  return networkOf(
    networkServicesFact.parse([order], never),
    serviceAddressesFact.parse([answerOf(baseline, 'service-addresses'), order], never),
    bridgePreferencesFact.parse([answerOf(baseline, 'bridge')], never),
  );
}

const networkOf = (
  services: Known<readonly NetworkService[]>,
  addresses: Known<readonly ServiceAddress[]>,
  bridges: Known<readonly BridgePreference[]>,
): Known<NetworkBefore> =>
  andThen(services, (own) =>
    andThen(addresses, (fixed) => mapKnown(bridges, (all) => ({ services: own, addresses: fixed, bridges: all }))),
  );

/** True if a service has a name that apply gives to services for receptacles. */
const isMade = (name: string): boolean => /^Thunderbolt \d+(?: \d+)?$/.test(name);

interface Beside extends NetworkBefore {
  readonly before: NetworkBefore;
  readonly devices: readonly string[];
  readonly isOurs: (address: Ipv4Address) => boolean;
}

function bridgeOf({ before, bridges, devices }: Beside): Restoration['bridge'] {
  const lost = before.bridges.find(
    ({ name, auto }) => auto === 'thunderbolt-bridge' && !bridges.some((one) => one.name === name),
  );
  if (lost === undefined) return undefined;
  const interfaces = lost.interfaces.filter((device) => devices.includes(device));
  return { name: lost.name, interfaces, ...given({ auto: lost.auto }) };
}

/** True if a service belongs to a receptacle or a bridge. No other service is ever switched. */
const isNear = ({ device }: NetworkService, { devices, before }: Beside): boolean =>
  device !== undefined && (devices.includes(device) || before.bridges.some(({ name }) => name === device));

function orderOf({ before, services }: Beside, made: readonly string[]): readonly string[] {
  const now = services.map(({ name }) => name).filter((name) => !made.includes(name));
  const old = before.services.map(({ name }) => name).filter((name) => now.includes(name));
  const wanted = [...old, ...now.filter((name) => !old.includes(name))];
  return wanted.join('\n') === now.join('\n') ? [] : wanted;
}

/** Manual addresses to restore. Our addresses are not restored, even if the baseline has them. */
function manualOf({ before, addresses, devices, isOurs }: Beside): Restoration['manual'] {
  return before.addresses.flatMap((one) => {
    const { service, device, method, address, router } = one;
    const now = addresses.find((other) => other.service === service);
    const isSame = now?.method === 'manual' && isSameAddress(now, one);
    const isTheirs = method === 'manual' && address !== undefined && devices.includes(device) && !isOurs(address);
    const over = router === undefined ? {} : { router };
    return isTheirs && now !== undefined && !isSame ? [{ ...address, ...over, service, device }] : [];
  });
}

function differenceOf(beside: Beside) {
  const { before, services } = beside;
  const known = before.services.map(({ name }) => name);
  const made = services
    .filter((one) => isNear(one, beside) && !known.includes(one.name) && isMade(one.name))
    .map(({ name }) => name);
  const switched = before.services.flatMap((one) => {
    const now = services.find(({ name }) => name === one.name);
    const isOther = now !== undefined && now.isEnabled !== one.isEnabled && isNear(one, beside);
    return isOther ? [{ service: one.name, on: one.isEnabled }] : [];
  });
  const bridge = bridgeOf(beside);
  const manual = manualOf(beside);
  const order = orderOf(beside, made);
  const words = [
    ...(bridge === undefined ? [] : [`${bridge.name} is removed`]),
    ...made.map((name) => `service ${name} was created`),
    ...switched.map(({ service, on }) => `service ${service} is ${on ? 'off' : 'on'}`),
    ...manual.map(({ service }) => `service ${service} lost its address`),
    ...(order.length === 0 ? [] : ['the order of services differs']),
  ];
  return { words, restoration: { ...given({ bridge }), made, switched, manual, order } };
}

export function networkDifference(
  { facts }: { readonly facts: Facts },
  baseline: Baseline,
  isOurs: (address: Ipv4Address) => boolean,
) {
  const before = networkBefore(baseline);
  if (before.kind === 'unknown') return unknown('not-asked', 'The baseline does not have the network.');
  const now = networkOf(
    read(facts, networkServicesFact),
    read(facts, serviceAddressesFact),
    read(facts, bridgePreferencesFact),
  );
  return andThen(now, (network) =>
    mapKnown(receptacleDevices(facts), (devices) =>
      differenceOf({ ...network, before: before.value, devices: [...devices.values()], isOurs }),
    ),
  );
}

export const hasNetworkBefore = (baseline: Baseline): boolean => networkBefore(baseline).kind === 'known';

const isNeither = (method: ServiceAddress['method']): boolean => method === 'other' || method === 'off';

/** Receptacles' services that had another method than DHCP or manual before, and have to be checked by a person. */
export function servicesOfOtherMethods({ facts }: { readonly facts: Facts }, baseline: Baseline): readonly string[] {
  const before = networkBefore(baseline);
  const now = read(facts, serviceAddressesFact);
  const devices = receptacleDevices(facts);
  if (before.kind === 'unknown' || now.kind === 'unknown' || devices.kind === 'unknown') return [];
  const near = [...devices.value.values()];
  return before.value.addresses
    .filter(({ method, device }) => isNeither(method) && near.includes(device))
    .filter(({ service }) => now.value.some((one) => one.service === service && !isNeither(one.method)))
    .map(({ service }) => service);
}
