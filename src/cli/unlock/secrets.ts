import { dirname } from 'node:path';
import { observeFleet } from '../../apply/reach/observe.ts';
import type { NodeTarget } from '../../apply/reach/session.ts';
import { keyIfLocked } from '../../apply/unlock-node.ts';
import { columnsOf } from '../../diagnostics/cells.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { unreachedOf } from '../../engine/plan/view.ts';
import type { DesiredNode } from '../../model/desired.ts';
import type { SecretsDocument, SecretsNode } from '../../model/documents.generated.ts';
import { alike } from '../../model/lists.ts';
import { everyNodeText } from '../../model/node.ts';
import { secretSourceText } from '../../model/secret.ts';
import { nodesSubject } from '../../model/subject.ts';
import { sudoFact } from '../../rack/access/fact.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { readValue } from '../../rack/fact.ts';
import { filevaultFact } from '../../rack/filevault/fact.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import { gatherAlike } from '../../report/findings.ts';
import { seenText, unreachedField } from '../../report/nodes-text.ts';
import { hang, headLines, type Page, padEnd, pageText } from '../../report/page.ts';
import { resolveSecret } from '../../secrets/resolve-secret.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { codeForNodes, type NodeVerdict } from '../exit-codes.ts';
import { observeLimits } from '../look/observe-fleet.ts';
import { type KeySourceRow, keySourceRows } from '../sources/read-keys.ts';
import { secretContext, simulatedSecret } from '../sources/secrets.ts';
import { diagnosticsJson, pageFor, showDiagnostics, showJson, withProgress } from '../terminal/console.ts';
import { useLimits } from '../use-limits.ts';
import type { Run, VerbBody } from '../verb.ts';

type Need = SecretsNode['need'];

/** A password source in the file, with its state and nodes. */
type Source = SecretsDocument['sources'][number] & { readonly diagnostic?: Diagnostic };

interface NodeRow extends SecretsNode {
  readonly name: string;
  /** The channels that send the password to the node, which are never arguments, variables or files. */
  readonly channels: readonly string[];
}

export const secrets: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const nodes = targetedNodes(run, cluster.fleet, run.words);
  const sources = await checkSources(run, cluster.path, nodes);
  const names = nodes.map(({ name }) => name);
  const keys = await keySourceRows(run, cluster.fleet, { folder: dirname(cluster.path), nodes: names });
  const ways = await openTargets(run, cluster).toAll(nodes);
  const observation = await withProgress(run.console, ['checking', nodes], (onNode) =>
    observeFleet(ways, { ...observeLimits(run), facts: ['sudo', 'filevault'], onNode }),
  );
  const locked = await lockedOf(run, ways, observation);
  const rows = nodes.map((node) => rowOf(node, observation, locked));
  const unseen = rows.filter(({ need }) => need === 'unknown').map(({ name }) => name);
  const lost = unseen.filter((name) => observation.failures[name] !== undefined);
  const diagnostics = [
    ...sources.flatMap((source) => missingText(source, rows)),
    ...unseen.flatMap((name) => observation.failures[name] ?? []),
  ];
  const unreached = unreachedOf(lost, observation);
  if (run.options.json) {
    showJson(run.console, {
      formatVersion: 1,
      cluster: cluster.fleet.name,
      ...(run.options.sim ? { simulated: true } : {}),
      sources: sources.map(({ source, kind, state, nodes }) => ({ source, kind, state, nodes })),
      ...(keys.length === 0 ? {} : { keys }),
      nodes: Object.fromEntries(
        rows.map(({ name, ...row }) => [name, row.need === 'unknown' ? { ...row, channels: null } : row]),
      ),
      ...unreachedField(unreached),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    });
  } else {
    const seen = seenText(rows.length - lost.length, unreached);
    run.console.out(secretsText({ cluster: cluster.fleet.name, sources, keys, rows, seen }, pageFor(run.console)));
    if (diagnostics.length > 0) run.console.err('\n');
    showDiagnostics(run.console, gatherAlike(diagnostics));
  }
  return codeForNodes(rows.map((row) => secretVerdict(row, sources)));
};

/** A missing password is an error if a node needs it now, otherwise a warning. */
function missingText({ diagnostic, nodes }: Source, rows: readonly NodeRow[]): readonly Diagnostic[] {
  if (diagnostic === undefined) return [];
  const isNeeded = rows.some(({ name, need }) => nodes.includes(name) && (need === 'unlock' || need === 'enroll'));
  return [isNeeded ? diagnostic : { ...diagnostic, severity: 'warning' }];
}

async function checkSources(run: Run, clusterFile: string, nodes: readonly DesiredNode[]): Promise<readonly Source[]> {
  const found: Source[] = [];
  for (const [{ password: source }, sharing] of alike(nodes, ({ password }) => password && JSON.stringify(password))) {
    if (source === undefined) continue;
    const names = sharing.map(({ name }) => name);
    const base = { source: secretSourceText(source), kind: source.kind, nodes: names };
    if (source.kind === 'prompt') {
      found.push({ ...base, state: 'asked' });
      continue;
    }
    const folder = dirname(clusterFile);
    if (simulatedSecret(run, source, { folder }) !== undefined) {
      found.push({ ...base, state: 'simulated' });
      continue;
    }
    const subject = nodesSubject(names);
    const context = secretContext(run, { subject, folder, question: '' });
    const resolved = await resolveSecret(source, context);
    found.push(
      resolved.kind === 'resolved'
        ? { ...base, state: 'resolves' }
        : { ...base, state: 'missing', diagnostic: resolved.diagnostic },
    );
  }
  return found;
}

/** The nodes that are waiting at FileVault, including those with a FileVault key that is not pinned yet. */
async function lockedOf(
  run: Run,
  ways: readonly NodeTarget[],
  { failures }: FleetObservation,
): Promise<ReadonlySet<string>> {
  const locked = new Set<string>();
  await forEachLimited(ways, run.options.parallel, async ({ node, way }) => {
    const shown = await keyIfLocked(way, failures[node] ?? [], useLimits(run));
    if (shown !== undefined) locked.add(node);
  });
  return locked;
}

const loginMessage = 'ssh login message';
const sudoInput = "sudo's standard input";
const diskInput = "fdesetup's standard input";

const needs: Readonly<Record<Need, { readonly text: string; readonly channels: readonly string[] }>> = {
  unlock: { text: 'needed now: unlock', channels: [loginMessage] },
  enroll: { text: 'needed now: enroll', channels: [loginMessage, sudoInput] },
  'after-restart': { text: 'for a restart', channels: [diskInput, loginMessage] },
  nothing: { text: 'not needed', channels: [] },
  unknown: { text: 'unknown', channels: [] },
};

function rowOf({ name, password }: DesiredNode, observation: FleetObservation, locked: ReadonlySet<string>): NodeRow {
  const need = locked.has(name) ? 'unlock' : needOf(name, observation);
  const source = password === undefined ? {} : { source: secretSourceText(password) };
  return { name, ...source, need, channels: needs[need].channels };
}

function needOf(name: string, { nodes, failures }: FleetObservation): Need {
  const [failure] = failures[name] ?? [];
  if (hasTrait(failure, 'locked')) return 'unlock';
  if (hasTrait(failure, 'login-refused')) return 'enroll';
  const facts = nodes[name]?.facts;
  const sudo = readValue(facts, sudoFact);
  if (failure !== undefined || sudo === undefined) return 'unknown';
  if (sudo !== 'allowed') return 'enroll';
  return readValue(facts, filevaultFact) === 'on' ? 'after-restart' : 'nothing';
}

function secretVerdict({ name, need }: NodeRow, sources: readonly Source[]): NodeVerdict {
  if (need === 'unknown') return 'unjudged';
  if (need !== 'unlock' && need !== 'enroll') return 'fine';
  const state = sources.find(({ nodes }) => nodes.includes(name))?.state;
  return state === undefined || state === 'missing' ? 'hands' : 'fine';
}

const stateText: Readonly<Record<Source['state'], string>> = {
  resolves: 'found',
  missing: 'not found',
  asked: 'asked when needed',
  simulated: 'not read in a rehearsal',
};

interface Found {
  readonly cluster: string;
  readonly sources: readonly Source[];
  readonly keys: readonly KeySourceRow[];
  readonly rows: readonly NodeRow[];
  readonly seen: string;
}

/** `no password needed now; for a restart on studio-1..4` */
function needSummary(rows: readonly NodeRow[]): string {
  const on = (...needs: readonly Need[]): string =>
    everyNodeText(rows.filter(({ need }) => needs.includes(need)).map(({ name }) => name));
  const [now, later, open] = [on('unlock', 'enroll'), on('after-restart'), on('unknown')];
  return [
    now === '' ? 'no password needed now' : `password needed now on ${now}`,
    ...(later === '' ? [] : [`for a restart on ${later}`]),
    ...(open === '' ? [] : [`unknown on ${open}`]),
  ].join('; ');
}

/** The passwords needed now, the sources in the file, and each node's needs; nodes with equal needs share a line. */
function secretsText({ cluster, sources, keys, rows, seen }: Found, page: Page): string {
  const passwords = sources.map(({ source, state, nodes }) => [
    source,
    stateText[state],
    `password of ${everyNodeText(nodes)}`,
  ]);
  const apiKeys = keys.map(({ source, state, placement }) => [source, stateText[state], `key of ${placement}`]);
  const equal = alike(rows, ({ source, need }) => JSON.stringify([source, need]));
  return pageText([
    headLines(cluster, `${seen}: ${needSummary(rows)}`, page),
    passwords.length === 0 ? hang('  ', 'No password sources in the file.', page.columns) : table(passwords, page),
    table(apiKeys, page),
    keys.flatMap(({ why }) => (why === undefined ? [] : hang('  ', escapeText(why), page.columns))),
    table(
      equal.map(([{ need, source, channels }, same]) => [
        everyNodeText(same.map(({ name }) => name)),
        needs[need].text,
        channels.length === 0 ? '' : (source ?? 'no source'),
        channels.join(', '),
      ]),
      page,
      [['node', 'password', 'from', 'sent as']],
    ),
  ]);
}

/** Columns below a head. If the page is too narrow, each row is a paragraph, and the head is omitted. */
function table(
  rows: readonly (readonly string[])[],
  page: Page,
  head: readonly (readonly string[])[] = [],
): readonly string[] {
  const all = [...head, ...rows];
  const widths = (all[0] ?? []).map((_, at) => Math.max(...all.map((row) => columnsOf(row[at] ?? ''))));
  const lines = all.map((row) => `  ${row.map((cell, at) => padEnd(cell, widths[at] ?? 0)).join('  ')}`.trimEnd());
  if (lines.every((line) => columnsOf(line) <= page.columns)) return lines;
  return rows.flatMap((row) => hang('  ', row.filter((cell) => cell !== '').join(', '), page.columns));
}
