/**
 * A controller in a separate process, which a test can kill: observes, makes plans and runs them like a command.
 * `node controller.js ORDER`, where ORDER is a file with a {@link KillOrder}.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Journal, journalFolder, openJournal } from '../../../src/apply/journal/journal.ts';
import { thisController } from '../../../src/apply/lease/controller.ts';
import type { PlaybookOptions } from '../../../src/apply/playbook-report.ts';
import { observeFleet } from '../../../src/apply/reach/observe.ts';
import type { NodeTarget } from '../../../src/apply/reach/session.ts';
import { runPlaybook } from '../../../src/apply/run-playbook.ts';
import { readSecrets } from '../../../src/diagnostics/hide-secrets.ts';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { trustFor } from '../../../src/remote/keys/host-key-trust.ts';
import type { Target } from '../../../src/remote/remote.ts';
import type { KillOrder, KillReport } from './order.ts';
import { runKeys } from './record-keys.ts';

const limits = { parallel: 16, deadlineMs: 60_000, newBoundary: () => randomBytes(16).toString('hex') };

function wayTo({ name, port, user, root, hostKey }: KillOrder['nodes'][number], userKey: string): NodeTarget {
  const target: Target = {
    label: name,
    host: '127.0.0.1',
    port,
    user,
    rootPrefix: root,
    identityFiles: [userKey],
    isIdentitiesOnly: true,
  };
  const text = `[127.0.0.1]:${port} ${hostKey}\n`;
  return {
    node: name,
    way: { kind: 'way', target, trust: trustFor(target, { knownHosts: [{ file: 'known', text }] }) },
  };
}

/** Kills this process immediately, like a power loss. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** The journal and the listener of the run, which kill the process after one record or event. */
function mortal({ dieAfter, runId }: KillOrder, journal: Journal) {
  const keys = runKeys();
  const dieIf = (key: string | undefined): void => {
    if (key !== undefined && key === dieAfter) die();
  };
  const kept: Journal = {
    runId,
    write: (entry) => {
      journal.write(entry);
      dieIf(keys.record(entry));
    },
    close: journal.close,
  };
  return { journal: kept, onEvent: (event: Parameters<typeof keys.event>[0]) => dieIf(keys.event(event)) };
}

async function obey(order: KillOrder): Promise<KillReport> {
  const { desired, targets, timing, state, runId, playbook } = order;
  const ways = order.nodes.map((node) => wayTo(node, order.userKey));
  const controller = await thisController();
  const options: PlaybookOptions = {
    scope: { desired, targets },
    observe: () => observeFleet(ways, limits),
    approve: () => Promise.resolve(true),
    confirm: () => Promise.resolve(true),
    timing,
    run: () => ({
      ...limits,
      ...mortal(order, openJournal(journalFolder(state, desired.name), runId, readSecrets())),
      ways,
      desired,
      verb: playbook.name,
      controller,
      timing,
      leaseWaitMs: 0,
    }),
  };
  const { works } = await runPlaybook(playbook, options);
  return {
    plans: works.flatMap(({ plan }) => plan ?? []),
    steps: works.flatMap(({ run }) =>
      (run?.steps ?? []).map(({ step, outcome, diagnostics }) => ({
        id: step.id,
        outcome,
        problems: diagnostics.map(({ code, detail }) => `${code}: ${plainText(detail)}`).join(' '),
      })),
    ),
  };
}

const order: KillOrder = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
process.stdout.write(`${JSON.stringify(await obey(order))}\n`);
