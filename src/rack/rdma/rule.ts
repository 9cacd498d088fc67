import type { Severity } from '../../diagnostics/code-entry.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { alike, listText } from '../../model/lists.ts';
import { macModel, neverHasRdma } from '../../model/macs.ts';
import { type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import { its, meshwright } from '../../model/text/command.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import { declaredAddress, leftBehind } from '../addresses/reading.ts';
import { thunderboltFact } from '../cables/fact.ts';
import { linkAt } from '../cabling/judge-cabling.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { type Examination, type ExaminedNode, rdmaSeverity } from '../examination.ts';
import { readValue } from '../fact.ts';
import { adoptedDaemon } from '../foreign-daemon/reading.ts';
import { hardwareFact } from '../identity/fact.ts';
import { macosVersionFact } from '../macos/fact.ts';
import { firstMacosWithRdma, hasRdmaInSettings, isOutsideAccept, macosOf } from '../macos/reading.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { strayCarrier } from '../network/interfaces-reading.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { cableMethod, serviceOfDevice } from '../network/services-reading.ts';
import { otherRdmaDevicesFact, rdmaDevicesFact, rdmaPortsFact } from './devices-fact.ts';
import { nodeRdma, type ReceptacleRdma, receptacleRdma } from './receptacle-reading.ts';
import { rdmaStateFact, rdmaSwitchFact } from './state-fact.ts';
import { settingsKeys } from './switch-reading.ts';

const blocking = { severity: 'error', role: { blocks: 'rdma', when: 'rdma-needed' } } as const;
const blockingAddressed = { severity: 'error', role: { blocks: 'rdma', when: 'rdma-needed-and-addressed' } } as const;

const codes = {
  'rdma/no-thunderbolt-5': {
    ...blocking,
    traits: ['darkens'],
    summary: 'This Mac cannot use RDMA: its receptacles are older than Thunderbolt 5.',
    cause:
      'RDMA over Thunderbolt needs Thunderbolt 5. On Thunderbolt 4, `rdma_ctl status` may print enabled, but no device appears (mlx issue 3777). If a device exists, it comes from a modified driver (the RDMAEnabler kext, seen on macOS 27.2 with reduced security). meshwright does not support that driver.',
    hint: "Use TCP on this node's links, or replace the Mac with one that has Thunderbolt 5.",
    facts: [hardwareFact, rdmaStateFact, rdmaDevicesFact],
  },
  'rdma/macos-too-old': {
    ...blocking,
    traits: ['darkens'],
    summary: 'This macOS has no RDMA over Thunderbolt.',
    cause: 'RDMA over Thunderbolt needs macOS 26.2 or later (Apple TN3205).',
    hint: 'Update macOS to 26.2 or later.',
    facts: [macosVersionFact],
  },
  'rdma/disabled': {
    ...blocking,
    traits: ['hands', 'darkens', 'rdma-switch'],
    summary: 'RDMA over Thunderbolt is disabled on this node.',
    cause:
      '`rdma_ctl status` prints disabled. Only a person can enable RDMA: in Recovery (Apple TN3205), and from macOS 27 on also in System Settings. No known command can enable it over SSH.',
    hint: 'Shut down, hold the power button until "Loading startup options" appears, and choose Options > Utilities > Terminal. Type `rdma_ctl enable`, then restart.',
    facts: [rdmaStateFact, rdmaSwitchFact],
  },
  'rdma/restart-pending': {
    ...blocking,
    traits: ['darkens'],
    summary: 'RDMA is switched on, but this Mac has not restarted since.',
    cause:
      'From macOS 27 on, the switch is also in System Settings. The NVRAM variable `rdma-enable` is 1, but `ibv_devices` lists no device: the switch takes effect at the next start. On a Mac with Thunderbolt 4, it never does (mlx issue 3777).',
    hint: prose`Restart this node: ${meshwright('reboot', its.node)}`,
    facts: [rdmaStateFact, rdmaSwitchFact, rdmaDevicesFact],
  },
  'rdma/off-after-restart': {
    severity: 'warning',
    summary: 'RDMA works now, but it will stop working when this Mac restarts.',
    cause:
      'The NVRAM variable `rdma-enable` is off, but the RDMA devices still exist: the switch takes effect at a restart.',
    hint: 'Switch on RDMA over Thunderbolt in System Settings > Privacy & Security > Developer Tools.',
    facts: [rdmaSwitchFact, rdmaDevicesFact],
  },
  'rdma/no-device': {
    ...blocking,
    traits: ['darkens', 'no-device'],
    summary: 'RDMA is on, but an RDMA device is missing.',
    cause: "`ibv_devices` does not list the device whose name is `rdma_` plus the receptacle's interface.",
    hint: 'Restart this node. If the device is still missing, the hardware does not support RDMA (mlx issue 3777).',
    facts: [rdmaStateFact, rdmaDevicesFact],
  },
  'rdma/port-down': {
    ...blocking,
    traits: ['port-down'],
    summary: 'An RDMA port is down although the cable is plugged in.',
    cause:
      'A port becomes active when a cable is plugged in and RDMA is enabled at the far end (Apple TN3205). If both are true, the state in the kernel is stale, as it can be after replugging.',
    hint: 'Restart the Macs at both ends of the link.',
    facts: [rdmaStateFact, rdmaPortsFact, thunderboltFact],
  },
  'rdma/port-not-active': {
    ...blocking,
    traits: ['port-not-active'],
    summary: 'An RDMA port is neither active nor down.',
    cause:
      'Only PORT_ACTIVE carries RDMA. Other states, such as INIT or ARMED, come before PORT_ACTIVE, or mean that the port is stuck after replugging.',
    hint: 'Check again in a minute. If the state has not changed, restart the Macs at both ends of the link.',
    facts: [rdmaPortsFact, thunderboltFact],
  },
  'rdma/interface-down': {
    ...blockingAddressed,
    traits: ['interface-down'],
    summary: 'The interface of a receptacle that should use RDMA is down.',
    cause:
      'An interface that is down has no address, so its RDMA device has no GID. The usual reason is that its network service is disabled.',
    hint: 'Enable its network service in System Settings > Network.',
    facts: [interfacesFact, rdmaPortsFact],
  },
  'rdma/bridged': {
    ...blocking,
    traits: ['bridged'],
    summary: 'A receptacle that should use RDMA is in the Thunderbolt Bridge.',
    cause:
      'A bridged receptacle has no address of its own, so its device lacks the GID that MLX needs (errno 96 or 22).',
    hint: 'Set thunderbolt.bridge: remove in the file.',
    facts: [interfacesFact, rdmaPortsFact],
  },
  'rdma/no-address': {
    ...blockingAddressed,
    traits: ['no-address'],
    summary: 'A receptacle that should use RDMA has no IPv4 address.',
    cause:
      'Only an interface with its own IPv4 address gets the IPv4-mapped GID that MLX needs. A self-assigned address can take minutes after a boot and may change later.',
    hint: prose`Set the address: ${meshwright('apply', its.node)}. Without a pool in the file: sudo networksetup -setmanual "Thunderbolt N" ADDRESS 255.255.255.252`,
    facts: [interfacesFact, rdmaPortsFact],
  },
  'rdma/other-device': {
    severity: 'notice',
    summary: 'This Mac has RDMA devices that belong to no Thunderbolt receptacle.',
    cause:
      "`ibv_devices` lists a device whose name is not `rdma_en` and a number, such as one that belongs to a network card's driver. The device is not part of the mesh: meshwright does not count it or give it to any rank.",
    hint: 'There is nothing to do, but a program that uses the first RDMA device it finds may use this one.',
    facts: [otherRdmaDevicesFact],
  },
  'rdma/no-gid': {
    ...blockingAddressed,
    traits: ['no-gid'],
    summary: 'An RDMA device lacks the GID for its IPv4 address.',
    cause:
      'The interface has an IPv4 address, but its device has no GID ::ffff:a.b.c.d for it. MLX fails with "RTR errno 22"; newer versions name the cause (mlx pull request 4191).',
    hint: 'Check again in a minute. If the GID is still missing, restart this node.',
    facts: [interfacesFact, rdmaPortsFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

interface Trouble {
  readonly end: LinkEnd;
  readonly rdma: Exclude<ReceptacleRdma, { kind: 'ready' | 'unknown' }>;
}

function troublesOf(examination: Examination, node: ExaminedNode): readonly Trouble[] {
  const cabled = node.ends.filter((end) => linkAt(examination.cabling.links, end)?.judgement.kind === 'as-declared');
  return cabled.flatMap((end): Trouble[] => {
    const rdma = receptacleRdma(examination, node, end);
    if (rdma.kind === 'ready' || rdma.kind === 'unknown') return [];
    // Other findings report a cause at the far Mac and a bridge that should not exist.
    const isFarCause = rdma.kind === 'port-down' && rdma.farRdma !== 'ready' && rdma.farRdma !== 'unknown';
    const isBridgeCause = rdma.kind === 'bridged' && examination.desired.thunderbolt.bridge !== 'keep';
    // Separate rules report that IPv4 is off, and that the address or the carrier is on another interface.
    const isOffCause =
      rdma.kind === 'no-address' && cableMethod(examination.desired, node.facts, rdma.interfaceName) === 'off';
    const isLeftBehind = rdma.kind === 'no-address' && leftBehind(examination.desired, node.facts, end) !== undefined;
    const isCarrierCause = rdma.kind === 'port-down' && strayCarrier(examination, node, end) !== undefined;
    const isOther = isFarCause || isBridgeCause || isOffCause || isLeftBehind || isCarrierCause;
    return isOther ? [] : [{ end, rdma }];
  });
}

function places(troubles: readonly Trouble[]): string {
  const each = troubles.map(({ end, rdma }) => `${end.receptacle} (${rdma.interfaceName})`);
  return `${each.length === 1 ? 'Receptacle' : 'Receptacles'} ${each.join(', ')}`;
}

/** A kernel that lost track of a cable needs a restart. `reboot` restarts the Macs in order, each at most once. */
const restart = (sentence: Prose, nodes: readonly string[]): Prose =>
  withCommands(sentence, [meshwright('reboot', ...nodes)]);

/**
 * The Macs to restart because of this node's ports that are down. One restart covers all ports between these Macs, so
 * Macs of which each has such a port to another of them get the same list, in file order.
 */
function macsToRestart(examination: Examination, own: NodeName): readonly NodeName[] {
  const ready = examination.nodes.filter((node) => nodeRdma(node) === 'ready');
  const pairs = ready.flatMap((node) =>
    troublesOf(examination, node).flatMap(({ rdma }) =>
      rdma.kind === 'port-down' && rdma.farRdma === 'ready' ? [[node.name, rdma.far.node]] : [],
    ),
  );
  const found = new Set<string>([own]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const name of pairs.filter((pair) => pair.some((one) => found.has(one))).flat()) found.add(name);
  }
  return examination.desired.nodes.flatMap(({ name }) => (found.has(name) ? [name] : []));
}

function portDown(
  examination: Examination,
  node: NodeName,
  troubles: readonly Trouble[],
  place: string,
): Omit<Said, 'code'> {
  const far = troubles.flatMap(({ rdma }) => (rdma.kind === 'port-down' ? [rdma] : []));
  const ends = listText(far.map((one) => linkEndText(one.far)));
  const [ports, cables] = far.length === 1 ? ['RDMA port is', 'cable'] : ['RDMA ports are', 'cables'];
  if (far.some((one) => one.farRdma !== 'ready')) {
    const nodes = listText([...new Set(far.map((one) => one.far.node))]);
    return {
      detail: `${place}: the ${ports} down; whether RDMA is enabled at ${ends} is unknown.`,
      hint: withCommands(`Check the far end first. On ${nodes}`, ['rdma_ctl status']),
    };
  }
  const macs = macsToRestart(examination, node);
  const all = `Restart ${macs.length} Macs with one command, which covers all ports between them`;
  return {
    detail: `${place}: the ${ports} down, although the ${cables} to ${ends} ${far.length === 1 ? 'is' : 'are'} plugged in and RDMA is enabled at both ends.`,
    hint: restart(macs.length === 2 ? `Restart both Macs, ${listText(macs)}` : all, macs),
  };
}

type Said = Pick<Found, 'code' | 'detail' | 'hint'>;

function saidOf(
  examination: Examination,
  node: ExaminedNode,
  troubles: readonly Trouble[],
  kind: Trouble['rdma']['kind'],
): Said {
  const { desired } = examination;
  const { name } = node;
  const place = places(troubles);
  switch (kind) {
    case 'no-device':
      return {
        code: 'rdma/no-device',
        detail: `${place}: no RDMA device, although RDMA is enabled.`,
        hint: restart(prose`Restart ${named(name)}`, [name]),
      };
    case 'port-down':
      return { code: 'rdma/port-down', ...portDown(examination, name, troubles, place) };
    case 'bridged':
      return { code: 'rdma/bridged', detail: `${place}: a member of a bridge, so RDMA cannot start.` };
    case 'port-not-active':
      return {
        code: 'rdma/port-not-active',
        detail: `${place}: the RDMA port is neither active nor down, so nothing can use it yet.`,
      };
    case 'interface-down':
      return {
        code: 'rdma/interface-down',
        detail: `${place}: the interface is down, although the cable is plugged in.`,
        hint: interfaceHint(node, troubles),
      };
    case 'no-address':
      return {
        code: 'rdma/no-address',
        detail: `${place}: no IPv4 address, so the RDMA device has no GID that MLX can use.`,
        hint: addressHint(desired, node, troubles),
      };
    case 'no-gid':
      return {
        code: 'rdma/no-gid',
        detail: `${place}: has an IPv4 address, but the RDMA device has no GID for it.`,
        hint: restart(prose`Check again in a minute. If the GID is still missing, restart ${named(name)}`, [name]),
      };
  }
}

/** Reports why single receptacles of a node with RDMA cannot use it. Equal causes on one node are reported together. */
const ofReceptacles = (examination: Examination, node: ExaminedNode): readonly Found[] =>
  nodeRdma(node) === 'ready'
    ? alike(troublesOf(examination, node), ({ rdma }) => rdma.kind).map(([{ rdma }, same]) => ({
        severity: rdmaSeverity(examination, [node.name]),
        ...saidOf(examination, node, same, rdma.kind),
      }))
    : [];

function withoutThunderbolt5(node: ExaminedNode, severity: Severity): Found {
  const code = 'rdma/no-thunderbolt-5';
  const model = readValue(node.facts, hardwareFact)?.model;
  const name = model ?? 'This Mac';
  const modified = (readValue(node.facts, rdmaDevicesFact) ?? []).map((device) => device.name);
  const isListed = neverHasRdma(model);
  const thunderbolt = isListed ? 'Thunderbolt 4' : 'Thunderbolt 4 or older';
  const declare = isListed ? `declare its model: hardware: { model: "${model}" }` : 'set thunderbolt.rdma: auto';
  const hint =
    severity === 'error'
      ? prose`Remove ${named(node.name)} from the placements over RDMA. If only thunderbolt.rdma: required needs it, ${declare}`
      : 'Nothing to do while no placement needs RDMA here: TCP runs at 40 Gb/s, and no cable makes it faster.';
  if (modified.length === 0) {
    const detail = `${name} has ${thunderbolt} and can never use RDMA, whatever rdma_ctl prints.`;
    return { code, severity, detail, hint };
  }
  return {
    code,
    severity: severity === 'error' ? 'error' : 'warning',
    detail: `${name} has ${thunderbolt}, but lists ${modified.join(', ')}. That device comes from a modified driver; macOS itself refuses RDMA on this Mac.`,
    hint: severity === 'error' ? hint : prose`Use TCP on the links of ${named(node.name)}.`,
  };
}

/** True if this model is known to have Thunderbolt 5. Then the hardware is not the reason for a missing device. */
const isCapable = ({ facts }: ExaminedNode): boolean =>
  macModel(readValue(facts, hardwareFact)?.model ?? '')?.thunderbolt === 5;

function deviceHint(node: ExaminedNode): Prose {
  const doubt = isCapable(node) ? '' : '. If it still has no device after that, its hardware does not support RDMA';
  return withCommands(prose`Restart ${named(node.name)}${doubt}`, [meshwright('reboot', node.name)], '.');
}

function judge(examination: Examination, node: ExaminedNode): Found | readonly Found[] {
  const severity = rdmaSeverity(examination, [node.name]);
  switch (nodeRdma(node)) {
    case 'no-thunderbolt-5':
      return withoutThunderbolt5(node, severity);
    case 'macos-too-old': {
      // The finding about macos.accept asks for the same update, so a second finding would look like another problem.
      const detail = `macOS ${macosOf(node)?.version ?? ''} has no RDMA over Thunderbolt, which needs ${firstMacosWithRdma} or later.`;
      return isOutsideAccept(examination, node) ? [] : { code: 'rdma/macos-too-old', severity, detail };
    }
    case 'disabled': {
      const atMac = restart(`At the Mac: ${settingsKeys.open} ${settingsKeys.turn} Then restart it`, [node.name]);
      const hint = hasRdmaInSettings(node.facts) ? atMac : undefined;
      return { code: 'rdma/disabled', severity, detail: 'RDMA over Thunderbolt is disabled.', ...given({ hint }) };
    }
    case 'restart-pending': {
      const detail = 'RDMA is switched on, but no RDMA device exists: the switch takes effect at a restart.';
      return { code: 'rdma/restart-pending', severity, detail, hint: deviceHint(node) };
    }
    case 'no-device': {
      const detail = 'RDMA is enabled, but macOS lists no RDMA device.';
      return { code: 'rdma/no-device', severity, detail, hint: deviceHint(node) };
    }
    case 'ready':
      // From macOS 27 on, RDMA may still work after it was switched off, until the next restart.
      return hasRdmaInSettings(node.facts) && readValue(node.facts, rdmaSwitchFact) === 'off'
        ? {
            code: 'rdma/off-after-restart',
            severity: severity === 'error' ? 'warning' : 'notice',
            detail: 'RDMA works, but its switch is off: it will stop working when this Mac restarts.',
            hint: `At the Mac: ${settingsKeys.open} ${settingsKeys.turn}`,
          }
        : [];
    case 'unknown':
      return [];
  }
}

function otherDevices({ facts }: ExaminedNode): readonly Found[] {
  const found = readValue(facts, otherRdmaDevicesFact) ?? [];
  const detail = `This Mac also has ${found.map(escapeText).join(', ')}.`;
  return found.length === 0 ? [] : [{ code: 'rdma/other-device', detail }];
}

/** Explains why a cabled node cannot use RDMA. Only the first missing requirement is reported. */
export const rdma = defineNodeRule(codes, (node, examination) => [
  ...(node.ends.length > 0 ? [judge(examination, node)].flat() : []),
  ...ofReceptacles(examination, node),
  ...otherDevices(node),
]);

/** The command to type for one receptacle, or what to do if no command can be given. */
interface Act {
  readonly commands: readonly string[];
  readonly words: readonly string[];
}

const command = (...words: readonly string[]): string => `sudo networksetup ${words.join(' ')}`;

function actFor(facts: Facts, { end, rdma: { interfaceName } }: Trouble, address: string): Act {
  const setManual = (name: string): string => command('-setmanual', `"${name}"`, `${address} 255.255.255.252`);
  const port = `Thunderbolt ${end.receptacle}`;
  const inSettings = (what: string): Act => ({
    commands: [],
    words: [`For ${port} (${interfaceName}), ${what} in System Settings > Network.`],
  });
  const service = serviceOfDevice(facts, interfaceName);
  switch (service.kind) {
    case 'named': {
      const enable = service.isEnabled ? [] : [command('-setnetworkserviceenabled', `"${service.name}"`, 'on')];
      return { commands: [...enable, setManual(service.name)], words: [] };
    }
    case 'none':
      return readValue(facts, networkServicesFact)?.some(({ name }) => name === port) === true
        ? inSettings('add a service')
        : { commands: [command('-createnetworkservice', `"${port}"`, `"${port}"`), setManual(port)], words: [] };
    case 'unsafe':
      return inSettings('set the address');
    case 'unknown':
      return inSettings('check the service');
  }
}

/**
 * Explains how a node's receptacles get fixed addresses: with apply if the file has a pool, or manually. The manual
 * commands use the real names of the network services and the allocated addresses, and create missing services first.
 * @see networksetup(8)
 */
function addressHint(desired: DesiredFleet, { name, facts }: ExaminedNode, bare: readonly Trouble[]): Prose {
  const { thunderbolt } = desired;
  const isOurs = thunderbolt.pool !== undefined && adoptedDaemon(desired, facts) === undefined;
  const acts = bare.flatMap((one) => {
    const address = isOurs ? declaredAddress(thunderbolt, one.end) : 'ADDRESS';
    return address === undefined ? [] : [actFor(facts, one, address)];
  });
  const commands = acts.flatMap((one) => one.commands);
  const words = acts.flatMap((one) => one.words);
  if (isOurs) {
    const byHand = withCommands(prose`Or manually, on ${named(name)}`, commands);
    const bySelf = withCommands('Set the address', [meshwright('apply', name)]);
    return joinProse([bySelf, ...(commands.length === 0 ? [] : [byHand, ...words])], '\n');
  }
  const first =
    commands.length === 0
      ? prose`${named(name)} needs a fixed IPv4 address on each receptacle.`
      : withCommands(prose`On ${named(name)}, where ADDRESS is the address of each link`, commands);
  return joinProse([first, ...words], '\n');
}

/** Explains how to bring up an interface: enable its service if it is disabled, otherwise restart the Mac. */
function interfaceHint({ name, facts }: ExaminedNode, down: readonly Trouble[]): Prose {
  const services = down.map(({ rdma }) => serviceOfDevice(facts, rdma.interfaceName));
  const off = services.flatMap((one) => (one.kind === 'named' && !one.isEnabled ? [one.name] : []));
  const commands = off.map((service) => command('-setnetworkserviceenabled', `"${service}"`, 'on'));
  const isAllOff = off.length === down.length;
  const rest = prose`Check in System Settings > Network on ${named(name)} whether its service is on. If it is on, restart ${named(name)}.`;
  const typed = commands.length === 0 ? [] : [withCommands(prose`On ${named(name)}`, commands)];
  return joinProse([...typed, ...(isAllOff ? [] : [rest])], '\n');
}
