import type { PlaybookReport } from '../../apply/playbook-report.ts';
import { listText } from '../../desired/did-you-mean.ts';
import { everyNode } from '../../desired/fallback.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { targetedNodes } from '../cluster/open-cluster.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { namedTargets } from '../cluster/targets.ts';
import { openWays } from '../cluster/ways.ts';
import type { ExitCode } from '../verb/exit-codes.ts';
import type { Run, VerbBody } from '../verb/verb.ts';
import { actOn } from './act-on.ts';
import { toldToGoOff } from './kept-stops.ts';
import { shippedPlaybook } from './shipped-playbooks.ts';

/** `reboot NODE…|--all`: restarts Macs, each at most once, and brings back what the file wants serving. */
export const reboot: VerbBody = (run) => actOnMacs(run, 'reboot');

/** `shutdown NODE…|--all`: switches Macs off, and says how they come back. */
export const shutdown: VerbBody = (run) => actOnMacs(run, 'shutdown');

async function actOnMacs(run: Run, verb: 'reboot' | 'shutdown'): Promise<ExitCode> {
  const cluster = settleFromLock(run);
  const { fleet } = cluster;
  const targets = targetedNodes(run, fleet, namedTargets(run, fleet)).map(({ name }) => name);
  const touched = fleet.placements.filter(
    (one) => one.state === 'serving' && everyNode(one).some((node) => targets.includes(node)),
  );
  const ways = openWays(run, cluster.opened);
  const action = {
    verb,
    playbook: shippedPlaybook(verb),
    scope: { desired: fleet, targets },
    named: ['interrupt', verb] as const,
    judged: targets,
    ...(verb === 'reboot'
      ? {
          goal: { kind: 'start' as const, placements: touched.map(({ name }) => name), near: targets },
          leadsTo: touched.length === 0 ? [] : [`Then: starts ${listText(touched.map(({ name }) => name))} again.`],
          closing: (report: PlaybookReport) => notRebooted(targets, report),
        }
      : {
          closing: (report: PlaybookReport) => {
            const off = toldToGoOff(report);
            return [...stillOn(targets.filter((name) => !off.includes(name))), ...wayBack(off, ways.isSimulated)];
          },
        }),
  };
  return actOn(run, action, { cluster, ways });
}

/** Macs whose restart was never sent; why is said above. */
function notRebooted(targets: readonly string[], { works }: PlaybookReport): readonly string[] {
  const steps = works.flatMap(({ run }) => run?.steps ?? []);
  const sent = steps
    .filter(({ step, ms }) => step.act.kind === 'reboot' && ms > 0)
    .map(({ step }) => step.node as string);
  const left = targets.filter((name) => !sent.includes(name));
  if (left.length === 0) return [];
  const isNothing = steps.every(({ ms }) => ms === 0);
  return [`Not rebooted: ${left.join(', ')}.${isNothing ? ' Nothing was stopped or rebooted.' : ''}`];
}

const stillOn = (nodes: readonly string[]): readonly string[] =>
  nodes.length === 0 ? [] : [`Not switched off: ${nodes.join(', ')}`];

function wayBack(off: readonly string[], isSimulated: boolean): readonly Prose[] {
  if (off.length === 0) return [];
  return isSimulated
    ? [
        'These Macs are simulated, and so is whoever presses their buttons:',
        prose`  ${meshwright('sim power-on', ...off)}`,
        'Then bring back what served there:',
        prose`  ${meshwright('apply')}`,
      ]
    : [
        'A Mac that was switched off comes back only by hand: press its power button, or take its power away and give it back where it starts then (power.restartAfterPowerLoss). With FileVault it waits for its password.',
        'Then bring back what served there:',
        prose`  ${meshwright('apply')}`,
      ];
}
