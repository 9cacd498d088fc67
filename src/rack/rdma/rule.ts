import { endAddresses } from '../../desired/addresses.ts';
import type { Severity } from '../../diagnostics/code-entry.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { groupBy } from '../../model/lists.ts';
import { macModel, neverHasRdma } from '../../model/macs.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { its, meshwright } from '../../model/text/command.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import { thunderboltFact } from '../cables/fact.ts';
import { linkAt } from '../cabling/judge-cabling.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { type Examination, type ExaminedNode, rdmaSeverity } from '../examination.ts';
import { readValue } from '../fact.ts';
import { adoptedDaemon } from '../foreign-daemon/adopted-daemon.ts';
import { hardwareFact } from '../identity/fact.ts';
import { macosVersionFact } from '../macos/fact.ts';
import { firstMacosWithRdma, hasRdmaInSettings, isOutsideAccept, macosOf } from '../macos/macos.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { cableMethod, serviceOfDevice } from '../network/services.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { otherRdmaDevicesFact, rdmaDevicesFact, rdmaPortsFact } from './devices-fact.ts';
import { nodeRdma, type ReceptacleRdma, receptacleRdma } from './rdma-receptacle.ts';
import { settingsKeys } from './rdma-switch-steps.ts';
import { rdmaStateFact, rdmaSwitchFact } from './state-fact.ts';

const blocking = { severity: 'error', role: { blocks: 'rdma', when: 'rdma-needed' } } as const;
const blockingAddressed = { severity: 'error', role: { blocks: 'rdma', when: 'rdma-needed-and-addressed' } } as const;

const codes = {
  'rdma/no-thunderbolt-5': {
    ...blocking,
    summary: 'This Mac cannot do RDMA: its receptacles are older than Thunderbolt 5.',
    cause:
      'RDMA over Thunderbolt needs Thunderbolt 5. On Thunderbolt 4 `rdma_ctl status` can say enabled and there is still never a device (mlx issue 3777). If a device exists, it comes from a modified driver (the RDMAEnabler kext, seen on macOS 27.2 with reduced security). meshwright does not support that.',
    hint: 'Use TCP on the links of this node, or a Mac with Thunderbolt 5 in its place.',
    facts: [hardwareFact, rdmaStateFact, rdmaDevicesFact],
  },
  'rdma/macos-too-old': {
    ...blocking,
    summary: 'This macOS has no RDMA over Thunderbolt.',
    cause: 'RDMA over Thunderbolt came with macOS 26.2 (Apple TN3205).',
    hint: 'Update macOS to 26.2 or later.',
    facts: [macosVersionFact],
  },
  'rdma/disabled': {
    ...blocking,
    summary: 'RDMA over Thunderbolt is disabled on this node.',
    cause:
      '`rdma_ctl status` prints disabled. Only a person can enable it: in Recovery (Apple TN3205), from macOS 27 on also in System Settings. No command over SSH is known to.',
    hint: 'Shut down, hold the power button until "Loading startup options", Options > Utilities > Terminal: rdma_ctl enable, then restart.',
    hands: true,
    facts: [rdmaStateFact, rdmaSwitchFact],
  },
  'rdma/restart-pending': {
    ...blocking,
    summary: 'RDMA is switched on, but this Mac has not restarted since.',
    cause:
      'From macOS 27 on the switch is in System Settings, too. The NVRAM variable `rdma-enable` is 1, and `ibv_devices` lists nothing: the switch takes effect at the next start. It never does on a Mac with Thunderbolt 4 (mlx issue 3777).',
    hint: prose`Restart this node: ${meshwright('reboot', its.node)}`,
    facts: [rdmaStateFact, rdmaSwitchFact, rdmaDevicesFact],
  },
  'rdma/off-after-restart': {
    severity: 'warning',
    summary: 'RDMA works now, and ends with the next restart of this Mac.',
    cause:
      'The NVRAM variable `rdma-enable` is off, and the RDMA devices are still there: the switch takes effect at a restart.',
    hint: 'Switch RDMA over Thunderbolt on in System Settings > Privacy & Security > Developer Tools.',
    role: 'told',
    facts: [rdmaSwitchFact, rdmaDevicesFact],
  },
  'rdma/no-device': {
    ...blocking,
    summary: 'RDMA is on, but an RDMA device is missing.',
    cause: '`ibv_devices` does not list `rdma_` + the interface of the receptacle.',
    hint: 'Restart this node; if the device is still missing, the hardware cannot do it (mlx issue 3777).',
    facts: [rdmaStateFact, rdmaDevicesFact],
  },
  'rdma/port-down': {
    ...blocking,
    summary: 'An RDMA port is down although the cable is there.',
    cause:
      'A port becomes active when a cable is in and RDMA is enabled at the far end (Apple TN3205). When both are so, the state in the kernel is stale, as after re-plugging.',
    hint: 'Restart both Macs of the link.',
    facts: [rdmaStateFact, rdmaPortsFact, thunderboltFact],
  },
  'rdma/port-not-active': {
    ...blocking,
    summary: 'An RDMA port is neither active nor down.',
    cause:
      'Only PORT_ACTIVE carries RDMA. Another state, such as INIT or ARMED, is on the way there, or is stuck after re-plugging.',
    hint: 'Look again in a minute; if it stays so, restart both Macs of the link.',
    facts: [rdmaPortsFact, thunderboltFact],
  },
  'rdma/interface-down': {
    ...blockingAddressed,
    summary: 'The interface of a receptacle that should do RDMA is down.',
    cause:
      'An interface that is not up has no address, and its RDMA device no GID for one: its service is switched off.',
    hint: 'Switch its network service on in System Settings > Network.',
    facts: [interfacesFact, rdmaPortsFact],
  },
  'rdma/bridged': {
    ...blocking,
    summary: 'A receptacle that should do RDMA is in the Thunderbolt Bridge.',
    cause:
      'A bridged receptacle has no address of its own, so that its device lacks the GID that MLX needs (errno 96 or 22).',
    hint: 'Say thunderbolt.bridge: remove in the file.',
    facts: [interfacesFact, rdmaPortsFact],
  },
  'rdma/no-address': {
    ...blockingAddressed,
    summary: 'A receptacle that should do RDMA has no IPv4 address.',
    cause:
      'Only an interface with an IPv4 address of its own gets the IPv4-mapped GID that MLX needs. A self-assigned one can take minutes after boot and may change later.',
    hint: prose`Have it set: ${meshwright('apply', its.node)}. Without a pool in the file: sudo networksetup -setmanual "Thunderbolt N" ADDRESS 255.255.255.252`,
    facts: [interfacesFact, rdmaPortsFact],
  },
  'rdma/other-device': {
    severity: 'notice',
    summary: 'This Mac has RDMA devices that belong to no Thunderbolt receptacle.',
    cause:
      '`ibv_devices` lists a device that is not called `rdma_en` and a number, as the driver of a network card makes one. It is no part of the mesh: nothing counts it, and no rank is told to use it.',
    hint: 'Nothing to do. A program that takes the first RDMA device it finds may take this one.',
    role: 'told',
    facts: [otherRdmaDevicesFact],
  },
  'rdma/no-gid': {
    ...blockingAddressed,
    summary: 'An RDMA device lacks the GID of its IPv4 address.',
    cause:
      'The interface has an IPv4 address and its device has no GID ::ffff:a.b.c.d for it. MLX dies with "RTR errno 22", newer ones name the cause (mlx pull request 4191).',
    hint: 'Look again in a minute; if it stays so, restart this node.',
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
    // A far Mac that has a cause of its own is told; a bridge that is to go is told by its own rule.
    const isFarCause = rdma.kind === 'port-down' && rdma.farRdma !== 'ready' && rdma.farRdma !== 'unknown';
    const isBridgeCause = rdma.kind === 'bridged' && examination.desired.thunderbolt.bridge !== 'keep';
    // IPv4 that is switched off is reported as the cause by its own rule.
    const isOffCause =
      rdma.kind === 'no-address' && cableMethod(examination.desired, node.facts, rdma.interfaceName) === 'off';
    return isFarCause || isBridgeCause || isOffCause ? [] : [{ end, rdma }];
  });
}

function places(troubles: readonly Trouble[]): string {
  const each = troubles.map(({ end, rdma }) => `${end.receptacle} (${rdma.interfaceName})`);
  return `${each.length === 1 ? 'Receptacle' : 'Receptacles'} ${each.join(', ')}`;
}

/** The cure that a kernel needs which lost track of a cable; the verb does it in order, and at most once. */
const restart = (sentence: Prose, nodes: readonly string[]): Prose =>
  withCommands(sentence, [meshwright('reboot', ...nodes)]);

function portDown(node: string, troubles: readonly Trouble[], place: string): Omit<Said, 'code'> {
  const far = troubles.flatMap(({ rdma }) => (rdma.kind === 'port-down' ? [rdma] : []));
  const told = far.map((one) => linkEndText(one.far)).join(', ');
  const farNodes = [...new Set(far.map((one) => one.far.node))];
  const nodes = farNodes.join(' and ');
  return far.every((one) => one.farRdma === 'ready')
    ? {
        detail: `${place}: the RDMA port is down, although the cable to ${told} is there and RDMA is enabled at both ends.`,
        hint: restart(`Restart both Macs, this one and ${nodes}`, [node, ...farNodes]),
      }
    : {
        detail: `${place}: the RDMA port is down; whether RDMA is enabled at ${told} is unknown.`,
        hint: withCommands(`Look at the far end first. On ${nodes}`, ['rdma_ctl status']),
      };
}

type Said = Pick<Found, 'code' | 'detail' | 'hint'>;

/** What is said of receptacles of a node that have the same trouble. */
function saidOf(
  { desired }: Examination,
  node: ExaminedNode,
  troubles: readonly Trouble[],
  kind: Trouble['rdma']['kind'],
): Said {
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
      return { code: 'rdma/port-down', ...portDown(name, troubles, place) };
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
        detail: `${place}: the interface is down, although the cable is there.`,
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
        hint: restart(prose`Look again in a minute; if it stays so, restart ${named(name)}`, [name]),
      };
  }
}

/** What keeps single receptacles of a node that can do RDMA from doing it; equal causes of one node are told together. */
const ofReceptacles = (examination: Examination, node: ExaminedNode): readonly Found[] =>
  nodeRdma(node) === 'ready'
    ? [...groupBy(troublesOf(examination, node), ({ rdma }) => rdma.kind).values()].flatMap((same) => {
        const [first] = same;
        if (first === undefined) return [];
        const severity = rdmaSeverity(examination, [node.name]);
        return [{ severity, ...saidOf(examination, node, same, first.rdma.kind) }];
      })
    : [];

/** A Mac that can never have RDMA, whatever `rdma_ctl` says of it. */
function withoutThunderbolt5(node: ExaminedNode, severity: Severity): Found {
  const code = 'rdma/no-thunderbolt-5';
  const model = readValue(node.facts, hardwareFact)?.model;
  const name = model ?? 'This Mac';
  const modified = (readValue(node.facts, rdmaDevicesFact) ?? []).map((device) => device.name);
  const isListed = neverHasRdma(model);
  const thunderbolt = isListed ? 'Thunderbolt 4' : 'Thunderbolt 4 or older';
  const declare = isListed ? `declare its model: hardware: { model: "${model}" }` : 'write thunderbolt.rdma: auto';
  const hint =
    severity === 'error'
      ? prose`Take ${named(node.name)} out of the placements over RDMA. If only thunderbolt.rdma: required asks for it, ${declare}`
      : 'Nothing to do while no placement needs RDMA here: TCP runs at 40 Gb/s, and no cable makes it faster.';
  if (modified.length === 0) {
    const detail = `${name} has ${thunderbolt} and can never have RDMA, whatever rdma_ctl says.`;
    return { code, severity, detail, hint };
  }
  return {
    code,
    severity: severity === 'error' ? 'error' : 'warning',
    detail: `${name} has ${thunderbolt}, but lists ${modified.join(', ')}. That device comes from a modified driver; macOS itself refuses RDMA on this Mac.`,
    hint: severity === 'error' ? hint : prose`Use TCP on the links of ${named(node.name)}.`,
  };
}

/** Whether this model is known to have Thunderbolt 5, so that a missing device is no question of hardware. */
const isCapable = ({ facts }: ExaminedNode): boolean => {
  const hardware = readValue(facts, hardwareFact);
  return hardware !== undefined && macModel(hardware.model)?.thunderbolt === 5;
};

function deviceHint(node: ExaminedNode): Prose {
  const doubt = isCapable(node) ? '' : '. If it has no device after that either, its hardware cannot do RDMA';
  return withCommands(prose`Restart ${named(node.name)}${doubt}`, [meshwright('reboot', node.name)], '.');
}

function judge(examination: Examination, node: ExaminedNode): Found | readonly Found[] {
  const severity = rdmaSeverity(examination, [node.name]);
  switch (nodeRdma(node)) {
    case 'no-thunderbolt-5':
      return withoutThunderbolt5(node, severity);
    case 'macos-too-old': {
      // The update that macos.accept asks for is the same act; telling it twice would look like two troubles.
      const detail = `macOS ${macosOf(node)?.version ?? ''} has no RDMA over Thunderbolt; it came with ${firstMacosWithRdma}.`;
      return isOutsideAccept(examination, node) ? [] : { code: 'rdma/macos-too-old', severity, detail };
    }
    case 'disabled': {
      const atMac = withCommands(`At the Mac: ${settingsKeys.open} ${settingsKeys.turn} Then restart it`, [
        meshwright('reboot', node.name),
      ]);
      const hint = hasRdmaInSettings(node.facts) ? atMac : undefined;
      return { code: 'rdma/disabled', severity, detail: 'RDMA over Thunderbolt is disabled.', ...given({ hint }) };
    }
    case 'restart-pending': {
      const detail = 'RDMA is switched on, but no RDMA device exists: the switch takes effect at a restart.';
      return { code: 'rdma/restart-pending', severity, detail, hint: deviceHint(node) };
    }
    case 'no-device': {
      const detail = 'RDMA is enabled, but the system lists no RDMA device at all.';
      return { code: 'rdma/no-device', severity, detail, hint: deviceHint(node) };
    }
    case 'ready':
      // From macOS 27 on RDMA may work and be switched off already: then the next restart ends it.
      return hasRdmaInSettings(node.facts) && readValue(node.facts, rdmaSwitchFact) === 'off'
        ? {
            code: 'rdma/off-after-restart',
            severity: severity === 'error' ? 'warning' : 'notice',
            detail: 'RDMA works, but its switch is off: RDMA ends with the next restart of this Mac.',
            hint: `At the Mac: ${settingsKeys.open} ${settingsKeys.turn}`,
          }
        : [];
    case 'unknown':
      return [];
  }
}

/** RDMA devices that belong to no receptacle: reported, and never counted. */
function otherDevices({ facts }: ExaminedNode): readonly Found[] {
  const found = readValue(facts, otherRdmaDevicesFact) ?? [];
  const detail = `It also has ${found.map(escapeText).join(', ')}.`;
  return found.length === 0 ? [] : [{ code: 'rdma/other-device', detail }];
}

/** What keeps a cabled node from doing RDMA: the first missing rung of the ladder and nothing behind it. */
export const rdma = defineNodeRule(codes, (node, examination) => [
  ...(node.ends.length > 0 ? [judge(examination, node)].flat() : []),
  ...ofReceptacles(examination, node),
  ...otherDevices(node),
]);

/** What to type for one receptacle, or what to do in words where no command can be given. */
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
      return inSettings('set it');
    case 'unknown':
      return inSettings('see');
  }
}

/** The address that the file gives to one end of a link; undefined as long as its network is not settled. */
function settledAddress({ links, networks }: DesiredFleet['thunderbolt'], end: LinkEnd): string | undefined {
  const wanted = linkEndText(end);
  return links
    .flatMap(({ index, ends }) => (networks[index] === undefined ? [] : endAddresses(ends, networks[index])))
    .find((one) => linkEndText(one.end) === wanted)?.address;
}

/**
 * How the receptacles of a node get fixed addresses: by apply, where the file has a pool for them; by hand with the
 * names that their network services really have, and with the addresses that they will have as far as they are
 * settled. A service is made first where there is none. @see networksetup(8)
 */
function addressHint(desired: DesiredFleet, { name, facts }: ExaminedNode, bare: readonly Trouble[]): Prose {
  const { thunderbolt } = desired;
  const isOurs = thunderbolt.pool !== undefined && adoptedDaemon(desired, facts) === undefined;
  const acts = bare.flatMap((one) => {
    const address = isOurs ? settledAddress(thunderbolt, one.end) : 'ADDRESS';
    return address === undefined ? [] : [actFor(facts, one, address)];
  });
  const commands = acts.flatMap((one) => one.commands);
  const words = acts.flatMap((one) => one.words);
  if (isOurs) {
    const byHand = withCommands(prose`Or by hand, on ${named(name)}`, commands);
    const bySelf = withCommands('Have it set', [meshwright('apply', name)]);
    return joinProse([bySelf, ...(commands.length === 0 ? [] : [byHand, ...words])], '\n');
  }
  const typed = withCommands(prose`On ${named(name)}, with the address of each link for ADDRESS`, commands);
  return joinProse(
    [commands.length === 0 ? prose`${named(name)} needs a fixed IPv4 address on each.` : typed, ...words],
    '\n',
  );
}

/** How an interface that is down is brought up: by its service, if that is switched off, else by a restart. */
function interfaceHint({ name, facts }: ExaminedNode, down: readonly Trouble[]): Prose {
  const services = down.map(({ rdma }) => serviceOfDevice(facts, rdma.interfaceName));
  const off = services.flatMap((one) => (one.kind === 'named' && !one.isEnabled ? [one.name] : []));
  const commands = off.map((service) => command('-setnetworkserviceenabled', `"${service}"`, 'on'));
  const isAllOff = off.length === down.length;
  const rest = prose`See in System Settings > Network of ${named(name)} whether its service is on; if it is, restart ${named(name)}.`;
  const typed = commands.length === 0 ? [] : [withCommands(prose`On ${named(name)}`, commands)];
  return joinProse([...typed, ...(isAllOff ? [] : [rest])], '\n');
}
