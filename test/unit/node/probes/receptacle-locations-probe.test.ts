import { describe, expect, it } from 'vitest';
import { type FactValues, parseFacts } from '../../../../src/engine/observe/facts.ts';
import type { Known } from '../../../../src/model/known.ts';
import type { Answer } from '../../../../src/model/probe.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import { receptacleLocations } from '../../../../src/rack/cables/receptacle-places-fact.ts';
import { outputIn } from '../../engine/observe/fact-cases.ts';
import { makeNodeRoot, type NodeRoot, removedAfter, startScript } from '../../engine/scripts/node-root.ts';
import { type Shell, scriptShells } from '../../engine/scripts/shells.ts';

const boundary = 'fedcba9876543210fedcba9876543210';
const newRoot = removedAfter(makeNodeRoot);
const published = outputIn('receptacle-places/m3-ultra');

/**
 * An ioreg that prints the nodes with a location for `-k`, otherwise the paths, mixed with properties that nothing
 * reads.
 */
function withIoreg(root: NodeRoot, nodes: string, paths: string): void {
  root.tool('usr/bin/awk', 'exec /usr/bin/awk "$@"');
  root.file('outputs/nodes', nodes);
  root.file(
    'outputs/paths',
    paths.replaceAll(/^( *\+-o Root .*)$/gm, `$1\n  | {\n  |   "Classes" = {"a"=0x1${'0'.repeat(9_000)}}\n  | }`),
  );
  root.tool(
    'usr/sbin/ioreg',
    'case $* in (*"-d1 -k port-location") exec /bin/cat "$R/outputs/nodes" ;;' +
      ' (*"-d1 -t -l -c AppleThunderboltIPPort") exec /bin/cat "$R/outputs/paths" ;; esac\nexit 64',
  );
}

async function observe(
  shell: Shell,
  root: NodeRoot,
  probe = receptacleLocations,
): Promise<{ answer: Answer | undefined; places: Known<FactValues['receptacle-places']> }> {
  const request = { probes: [probe], boundary, rootPrefix: root.folder };
  const answers = parseFrames((await startScript(shell, observeScript(request)).end).stdout, request);
  const facts = parseFacts(answers, { sentAtEpochMs: 0, receivedAtEpochMs: 1 });
  return { answer: answers[0], places: facts['receptacle-places'] };
}

const asked = (root: NodeRoot): number => root.started().filter(({ tool }) => tool === 'usr/sbin/ioreg').length;
const rootAt = published.indexOf('+-o Root');
const nodes = published.slice(0, rootAt);
const paths = published.slice(rootAt).replace(/end\n$/, '');

describe.each(scriptShells)('the receptacle location probe in $name', (shell) => {
  it('prints only the lines that the fact reads', async () => {
    const root = newRoot(shell);
    withIoreg(root, nodes, paths);
    const before = root.tree();
    const { answer, places } = await observe(shell, root);
    expect(answer?.stdout).toBe(published);
    expect(places).toMatchObject({ kind: 'known' });
    expect([asked(root), root.tree()]).toEqual([2, before]);
  });

  it('reports unknown locations for a Mac without port-location after one query', async () => {
    const root = newRoot(shell);
    withIoreg(root, '', paths);
    expect((await observe(shell, root)).places).toMatchObject({ kind: 'unknown', reason: 'empty' });
    expect(asked(root)).toBe(1);
  });

  it('fails if ioreg is missing or fails', async () => {
    const root = newRoot(shell);
    expect((await observe(shell, root)).places).toMatchObject({ reason: 'tool-missing' });
    root.tool('usr/sbin/ioreg', 'exit 1');
    expect((await observe(shell, root)).places).toMatchObject({ reason: 'failed' });
  });

  it('stops an ioreg that hangs', async () => {
    const root = newRoot(shell);
    root.tool('usr/sbin/ioreg', 'exec "$R/bin/sleep" 600');
    const { answer } = await observe(shell, root, { ...receptacleLocations, deadlineMs: 1_000 });
    expect(answer).toMatchObject({ isLate: true });
    const ioreg = root.started().find(({ tool }) => tool === 'usr/sbin/ioreg');
    expect(() => process.kill(ioreg?.pid ?? 0, 0)).toThrow(/ESRCH/);
  });
});
