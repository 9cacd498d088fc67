import type { Severity } from '../../diagnostics/code-entry.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { macModel, neverHasRdma } from '../../model/macs.ts';
import { nodeSubject, type Subject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { read } from '../fact.ts';
import { hardwareFact } from '../identity/hardware-fact.ts';
import { firstMacosWithRdma, hasRdmaInSettings, isOutsideAccept, macosOf } from '../macos/macos.ts';
import { rdmaSeverity } from '../rdma-severity.ts';
import type { Rule } from '../rule.ts';
import { rdmaDevicesFact } from './devices-fact.ts';
import { endsAtRestart, nodeRdma } from './rdma-node.ts';
import { settingsKeys } from './rdma-switch-steps.ts';

/** A Mac that can never have RDMA, whatever `rdma_ctl` says of it. */
function withoutThunderbolt5(node: ExaminedNode, about: { subject: Subject; severity: Severity }): Diagnostic {
  const hardware = read(node.facts, hardwareFact);
  const devices = read(node.facts, rdmaDevicesFact);
  const model = hardware.kind === 'known' ? hardware.value.model : undefined;
  const name = model ?? 'This Mac';
  const modified = devices.kind === 'known' ? devices.value.map((device) => device.name) : [];
  const isListed = neverHasRdma(model);
  const thunderbolt = isListed ? 'Thunderbolt 4' : 'Thunderbolt 4 or older';
  const declare = isListed ? `declare its model: hardware: { model: "${model}" }` : 'write thunderbolt.rdma: auto';
  const hint =
    about.severity === 'error'
      ? prose`Take ${named(node.name)} out of the placements over RDMA. If only thunderbolt.rdma: required asks for it, ${declare}`
      : 'Nothing to do while no placement needs RDMA here: TCP runs at 40 Gb/s, and no cable makes it faster.';
  if (modified.length === 0) {
    const detail = `${name} has ${thunderbolt} and can never have RDMA, whatever rdma_ctl says.`;
    return diagnose('rdma/no-thunderbolt-5', { ...about, detail, hint });
  }
  return diagnose('rdma/no-thunderbolt-5', {
    ...about,
    severity: about.severity === 'error' ? 'error' : 'warning',
    detail: `${name} has ${thunderbolt}, but lists ${modified.join(', ')}. That device comes from a modified driver; macOS itself refuses RDMA on this Mac.`,
    hint: about.severity === 'error' ? hint : prose`Use TCP on the links of ${named(node.name)}.`,
  });
}

/** Whether this model is known to have Thunderbolt 5, so that a missing device is no question of hardware. */
const isCapable = ({ facts }: ExaminedNode): boolean => {
  const hardware = read(facts, hardwareFact);
  return hardware.kind === 'known' && macModel(hardware.value.model)?.thunderbolt === 5;
};

function withoutDevice(node: ExaminedNode, detail: string) {
  const doubt = isCapable(node) ? '' : '. If it has no device after that either, its hardware cannot do RDMA';
  return {
    detail,
    hint: withCommands(prose`Restart ${named(node.name)}${doubt}`, [meshwright('reboot', node.name)], '.'),
  };
}

function judge(examination: Examination, node: ExaminedNode): readonly Diagnostic[] {
  const about = { subject: nodeSubject(node.name), severity: rdmaSeverity(examination, [node.name]) };
  switch (nodeRdma(node)) {
    case 'no-thunderbolt-5':
      return [withoutThunderbolt5(node, about)];
    case 'macos-too-old': {
      // The update that macos.accept asks for is the same act; telling it twice would look like two troubles.
      const detail = `macOS ${macosOf(node)?.version ?? ''} has no RDMA over Thunderbolt; it came with ${firstMacosWithRdma}.`;
      return isOutsideAccept(examination, node) ? [] : [diagnose('rdma/macos-too-old', { ...about, detail })];
    }
    case 'disabled':
      return [
        diagnose('rdma/disabled', {
          ...about,
          detail: 'RDMA over Thunderbolt is disabled.',
          ...(hasRdmaInSettings(node.facts)
            ? {
                hint: withCommands(`At the Mac: ${settingsKeys.open} ${settingsKeys.turn} Then restart it`, [
                  meshwright('reboot', node.name),
                ]),
              }
            : {}),
        }),
      ];
    case 'restart-pending':
      return [
        diagnose('rdma/restart-pending', {
          ...about,
          ...withoutDevice(
            node,
            'RDMA is switched on, but no RDMA device exists: the switch takes effect at a restart.',
          ),
        }),
      ];
    case 'no-device':
      return [
        diagnose('rdma/no-device', {
          ...about,
          ...withoutDevice(node, 'RDMA is enabled, but the system lists no RDMA device at all.'),
        }),
      ];
    case 'ready':
      return endsAtRestart(node)
        ? [
            diagnose('rdma/off-after-restart', {
              ...about,
              severity: about.severity === 'error' ? 'warning' : 'notice',
              detail: 'RDMA works, but its switch is off: RDMA ends with the next restart of this Mac.',
              hint: `At the Mac: ${settingsKeys.open} ${settingsKeys.turn}`,
            }),
          ]
        : [];
    case 'unknown':
      return [];
  }
}

/** What keeps a cabled node as a whole from doing RDMA: the first missing rung of the ladder and nothing behind it. */
export const rdmaNode: Rule = (examination) =>
  examination.nodes.filter((node) => node.ends.length > 0).flatMap((node) => judge(examination, node));
