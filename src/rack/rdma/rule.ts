import type { Severity } from '../../diagnostics/code-entry.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { given } from '../../model/given.ts';
import { groupBy } from '../../model/lists.ts';
import { macModel, neverHasRdma } from '../../model/macs.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { its, meshwright } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { addressHint, interfaceHint } from '../addresses/address-hint.ts';
import { thunderboltFact } from '../cables/fact.ts';
import { linkAt } from '../cabling/judge-cabling.ts';
import { defineNodeRule, type Finding, type RuleCodes } from '../define-rule.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { rdmaSeverity } from '../examination.ts';
import { readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { macosVersionFact } from '../macos/fact.ts';
import { firstMacosWithRdma, hasRdmaInSettings, isOutsideAccept, macosOf } from '../macos/macos.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { cableMethod } from '../network/services.ts';
import { otherRdmaDevicesFact, rdmaDevicesFact, rdmaPortsFact } from './devices-fact.ts';
import { endsAtRestart, nodeRdma } from './rdma-node.ts';
import { type ReceptacleRdma, receptacleRdma } from './rdma-receptacle.ts';
import { settingsKeys } from './rdma-switch-steps.ts';
import { rdmaStateFact, rdmaSwitchFact } from './state-fact.ts';

const codes = {
  'rdma/no-thunderbolt-5': {
    severity: 'error',
    summary: 'This Mac cannot do RDMA: its receptacles are older than Thunderbolt 5.',
    cause:
      'RDMA over Thunderbolt needs Thunderbolt 5. On Thunderbolt 4 `rdma_ctl status` can say enabled and there is still never a device (mlx issue 3777). If a device exists, it comes from a modified driver (the RDMAEnabler kext, seen on macOS 27.2 with reduced security). meshwright does not support that.',
    hint: 'Use TCP on the links of this node, or a Mac with Thunderbolt 5 in its place.',
    role: { blocks: 'rdma', when: 'rdma-needed' },
    facts: [hardwareFact, rdmaStateFact, rdmaDevicesFact],
  },
  'rdma/macos-too-old': {
    severity: 'error',
    summary: 'This macOS has no RDMA over Thunderbolt.',
    cause: 'RDMA over Thunderbolt came with macOS 26.2 (Apple TN3205).',
    hint: 'Update macOS to 26.2 or later.',
    role: { blocks: 'rdma', when: 'rdma-needed' },
    facts: [macosVersionFact],
  },
  'rdma/disabled': {
    severity: 'error',
    summary: 'RDMA over Thunderbolt is disabled on this node.',
    cause:
      '`rdma_ctl status` prints disabled. Only a person can enable it: in Recovery (Apple TN3205), from macOS 27 on also in System Settings. No command over SSH is known to.',
    hint: 'Shut down, hold the power button until "Loading startup options", Options > Utilities > Terminal: rdma_ctl enable, then restart.',
    hands: true,
    role: { blocks: 'rdma', when: 'rdma-needed' },
    facts: [rdmaStateFact, rdmaSwitchFact],
  },
  'rdma/restart-pending': {
    severity: 'error',
    summary: 'RDMA is switched on, but this Mac has not restarted since.',
    cause:
      'From macOS 27 on the switch is in System Settings, too. The NVRAM variable `rdma-enable` is 1, and `ibv_devices` lists nothing: the switch takes effect at the next start. It never does on a Mac with Thunderbolt 4 (mlx issue 3777).',
    hint: prose`Restart this node: ${meshwright('reboot', its.node)}`,
    role: { blocks: 'rdma', when: 'rdma-needed' },
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
    severity: 'error',
    summary: 'RDMA is on, but an RDMA device is missing.',
    cause: '`ibv_devices` does not list `rdma_` + the interface of the receptacle.',
    hint: 'Restart this node; if the device is still missing, the hardware cannot do it (mlx issue 3777).',
    role: { blocks: 'rdma', when: 'rdma-needed' },
    facts: [rdmaStateFact, rdmaDevicesFact],
  },
  'rdma/port-down': {
    severity: 'error',
    summary: 'An RDMA port is down although the cable is there.',
    cause:
      'A port becomes active when a cable is in and RDMA is enabled at the far end (Apple TN3205). When both are so, the state in the kernel is stale, as after re-plugging.',
    hint: 'Restart both Macs of the link.',
    role: { blocks: 'rdma', when: 'rdma-needed' },
    facts: [rdmaStateFact, rdmaPortsFact, thunderboltFact],
  },
  'rdma/port-not-active': {
    severity: 'error',
    summary: 'An RDMA port is neither active nor down.',
    cause:
      'Only PORT_ACTIVE carries RDMA. Another state, such as INIT or ARMED, is on the way there, or is stuck after re-plugging.',
    hint: 'Look again in a minute; if it stays so, restart both Macs of the link.',
    role: { blocks: 'rdma', when: 'rdma-needed' },
    facts: [rdmaPortsFact, thunderboltFact],
  },
  'rdma/interface-down': {
    severity: 'error',
    summary: 'The interface of a receptacle that should do RDMA is down.',
    cause:
      'An interface that is not up has no address, and its RDMA device no GID for one: its service is switched off.',
    hint: 'Switch its network service on in System Settings > Network.',
    role: { blocks: 'rdma', when: 'rdma-needed-and-addressed' },
    facts: [interfacesFact, rdmaPortsFact],
  },
  'rdma/bridged': {
    severity: 'error',
    summary: 'A receptacle that should do RDMA is in the Thunderbolt Bridge.',
    cause:
      'A bridged receptacle has no address of its own, so that its device lacks the GID that MLX needs (errno 96 or 22).',
    hint: 'Say thunderbolt.bridge: remove in the file.',
    role: { blocks: 'rdma', when: 'rdma-needed' },
    facts: [interfacesFact, rdmaPortsFact],
  },
  'rdma/no-address': {
    severity: 'error',
    summary: 'A receptacle that should do RDMA has no IPv4 address.',
    cause:
      'Only an interface with an IPv4 address of its own gets the IPv4-mapped GID that MLX needs. A self-assigned one can take minutes after boot and may change later.',
    hint: prose`Have it set: ${meshwright('apply', its.node)}. Without a pool in the file: sudo networksetup -setmanual "Thunderbolt N" ADDRESS 255.255.255.252`,
    role: { blocks: 'rdma', when: 'rdma-needed-and-addressed' },
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
    severity: 'error',
    summary: 'An RDMA device lacks the GID of its IPv4 address.',
    cause:
      'The interface has an IPv4 address and its device has no GID ::ffff:a.b.c.d for it. MLX dies with "RTR errno 22", newer ones name the cause (mlx pull request 4191).',
    hint: 'Look again in a minute; if it stays so, restart this node.',
    role: { blocks: 'rdma', when: 'rdma-needed-and-addressed' },
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

function portDown(
  node: string,
  troubles: readonly Trouble[],
  place: string,
): { readonly detail: string; readonly hint: Prose } {
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

function tell(examination: Examination, node: ExaminedNode, troubles: readonly Trouble[]): Found | readonly Found[] {
  const { name } = node;
  const [first] = troubles;
  const severity = rdmaSeverity(examination, [name]);
  const place = places(troubles);
  const bare = troubles.map(({ end, rdma }) => ({ end, interfaceName: rdma.interfaceName }));
  switch (first?.rdma.kind) {
    case undefined:
      return [];
    case 'no-device': {
      const hint = restart(prose`Restart ${named(name)}`, [name]);
      return { code: 'rdma/no-device', severity, detail: `${place}: no RDMA device, although RDMA is enabled.`, hint };
    }
    case 'port-down':
      return { code: 'rdma/port-down', severity, ...portDown(name, troubles, place) };
    case 'bridged':
      return { code: 'rdma/bridged', severity, detail: `${place}: a member of a bridge, so RDMA cannot start.` };
    case 'port-not-active': {
      const detail = `${place}: the RDMA port is neither active nor down, so nothing can use it yet.`;
      return { code: 'rdma/port-not-active', severity, detail };
    }
    case 'interface-down': {
      const detail = `${place}: the interface is down, although the cable is there.`;
      return { code: 'rdma/interface-down', severity, detail, hint: interfaceHint(name, node.facts, bare) };
    }
    case 'no-address': {
      const detail = `${place}: no IPv4 address, so the RDMA device has no GID that MLX can use.`;
      return { code: 'rdma/no-address', severity, detail, hint: addressHint(examination.desired, { ...node, bare }) };
    }
    case 'no-gid': {
      const hint = restart(prose`Look again in a minute; if it stays so, restart ${named(name)}`, [name]);
      const detail = `${place}: has an IPv4 address, but the RDMA device has no GID for it.`;
      return { code: 'rdma/no-gid', severity, detail, hint };
    }
  }
}

/** What keeps single receptacles of a node that can do RDMA from doing it; equal causes of one node are told together. */
const ofReceptacles = (examination: Examination, node: ExaminedNode): readonly Found[] =>
  nodeRdma(node) === 'ready'
    ? [...groupBy(troublesOf(examination, node), ({ rdma }) => rdma.kind).values()].flatMap((same) =>
        tell(examination, node, same),
      )
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
      return endsAtRestart(node)
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
