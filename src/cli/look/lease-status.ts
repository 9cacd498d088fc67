import { escapeText } from '../../diagnostics/escape.ts';
import { unreachedOf } from '../../engine/plan/unreached.ts';
import { counted } from '../../report/counted.ts';
import { headLines } from '../../report/head-lines.ts';
import { hang } from '../../report/layout.ts';
import { plainPaint } from '../../report/page.ts';
import { unreachedField } from '../../report/unreached.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { diagnosticsJson, showDiagnostics, showJson } from '../terminal/diagnostics-output.ts';
import { gatherAlike } from '../terminal/gather-alike.ts';
import { codeForNodes, type NodeVerdict } from '../verb/exit-codes.ts';
import type { VerbBody } from '../verb/verb.ts';
import { holdOn, holdText } from './leases.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';

/** `lease status [NODE…]`: which run holds which node. */
export const leaseStatus: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const nodes = targetedNodes(run, cluster.fleet, run.words).map(({ name }) => name);
  const ways = openWays(run, cluster);
  const { isSimulated } = ways;
  const asked = cluster.fleet.nodes.filter(({ name }) => nodes.includes(name));
  const observation = await observeNodes(run, asked, ways, shownOnly(run));
  const said = nodes.flatMap((name) => observation.failures[name] ?? []);
  const diagnostics = said;
  const lost = nodes.filter((name) => (observation.failures[name]?.length ?? 0) > 0);
  const holds = nodes.map((name) => ({ name, hold: holdOn(observation, name) }));
  if (run.options.json) {
    showJson(run.console, {
      formatVersion: 1,
      ...(isSimulated ? { simulated: true } : {}),
      nodes: Object.fromEntries(
        holds.map(({ name, hold }) => {
          if (hold.kind === 'unknown') return [name, { held: null, reason: hold.detail }];
          const { token: _token, ...shown } = hold.value ?? {};
          return [name, { held: hold.value !== undefined, ...shown }];
        }),
      ),
      ...unreachedField(unreachedOf(lost, observation)),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    });
  } else {
    const { columns, hasUnicode: unicode } = run.console;
    const page = { columns, unicode, paint: plainPaint, isSimulated };
    const held = holds.filter(({ hold }) => hold.kind === 'known' && hold.value !== undefined).length;
    const known = holds.filter(({ hold }) => hold.kind === 'known').length;
    const seen = known === holds.length ? '' : `${known} of ${counted(holds.length, 'node')} seen, `;
    const about = `${seen}${held === 0 ? 'no leases' : counted(held, 'lease')}`;
    const width = Math.max(0, ...nodes.map((name) => name.length));
    const lines = holds.flatMap(({ name, hold }) => {
      const text = hold.kind === 'unknown' ? 'unknown' : hold.value === undefined ? 'free' : holdText(hold.value, name);
      return hang(`  ${name.padEnd(width)}   `, escapeText(text), columns);
    });
    const head = headLines({ name: cluster.fleet.name, about, isSimulated }, page);
    run.console.out(`${[...head, '', ...lines].join('\n')}\n`);
    showDiagnostics(run.console, gatherAlike(diagnostics));
  }
  return codeForNodes(holds.map(({ hold }): NodeVerdict => (hold.kind === 'known' ? 'fine' : 'unjudged')));
};
