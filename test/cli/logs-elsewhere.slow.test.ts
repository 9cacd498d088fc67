import { describe, expect, it } from 'vitest';
import { type FileValue, filePart, fileText, pairFile } from '../scenarios/converge-file.ts';
import { codesOf, json } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { writeLog } from './simulated-log.ts';
import { listenTo } from './talking.ts';

/** A placement only on studio-1. */
const fileWith = (more: FileValue): FileValue =>
  pairFile((file) => {
    const chat = filePart(file, 'placements', 'chat');
    delete chat['sharding'];
    Object.assign(chat, { nodes: ['studio-1'], transport: 'tcp', ...more });
  });

const { place, run } = pairPlace(fileWith({ fallback: { nodes: ['studio-4'], context: '4k' } }));

const where = 'chat does not run; its nodes are studio-1; it has no rank on studio-4.';

describe('logs of a node that only a fallback uses', () => {
  it('report where the placement belongs, and exit with 1', async () => {
    const [text, asJson] = await Promise.all([
      run('logs', 'studio-4', '--sim'),
      run('logs', 'studio-4', '--sim', '--json'),
    ]);
    expect([text.code, text.stdout]).toEqual([1, '']);
    expect(text.stderr.replaceAll(/\s+/g, ' ')).toContain(`chat has no log on studio-4. ${where}`);
    expect(text.stderr).toContain('hint: To see the logs of its ranks: meshwright logs chat');
    expect([asJson.code, codesOf(json(asJson)), schemaCheck('logs')(json(asJson))]).toEqual([1, ['logs/none'], []]);
  });

  it("show an earlier start's log, with a diagnostic", async () => {
    writeLog(place, 'studio-4', 'once upon a time\n');
    const [text, asJson] = await Promise.all([
      run('logs', 'studio-4', '--sim'),
      run('logs', 'studio-4', '--sim', '--json'),
    ]);
    expect([text.code, text.stdout]).toEqual([0, 'simulated studio-4 | once upon a time\n']);
    expect(text.stderr.replaceAll(/\s+/g, ' ')).toContain(where);
    expect([asJson.code, codesOf(json(asJson))]).toEqual([0, ['logs/elsewhere']]);
    const following = listenTo(place, ['logs', 'studio-4', '--sim', '--follow']);
    await following.until('once upon a time');
    const ran = await following.interrupt();
    expect([ran.code, ran.stderr.includes('logs/elsewhere')]).toEqual([130, true]);
  });

  it('cause a usage error if no placement uses the node', async () => {
    place.write('cluster.yaml', fileText(fileWith({})));
    expect((await run('logs', 'studio-4', '--sim')).code).toBe(64);
  });
});
