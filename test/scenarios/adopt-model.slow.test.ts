import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digest } from '../../src/model/digest.ts';
import type { TreeId } from '../../src/model/node-script.ts';
import type { Step } from '../../src/model/step.ts';
import { nodePath } from '../../src/node/paths/node-paths.ts';
import { stagedFile } from '../../src/node/paths/own-paths.ts';
import { shared } from '../rack/kept-running.ts';
import { aStep } from '../rack/plans.ts';
import { asText } from '../unit/as-text.ts';
import { planOf, runOptions, startApplyRack } from './apply-rack.ts';
import { runPlan } from './run-plan.ts';

const rack = shared(() => startApplyRack('adopt'));

const onNode = (node: string, path: string): string => `${rack.fleet.nodes[node]?.root}${path}`;
const sha256 = (text: string) => digest(createHash('sha256').update(text).digest('hex'));

const hub = '/Users/ana/.cache/huggingface/hub/models--acme--tiny';
const contents = { 'config.json': '{}', 'weights.safetensors': 'weights '.repeat(10_000) };

/** Stores the model in a node's cache of Hugging Face, with a download that was given up. */
function storeModel(node: string, stored: Readonly<Record<string, string>> = contents): void {
  mkdirSync(onNode(node, `${hub}/snapshots/c1`), { recursive: true });
  mkdirSync(onNode(node, `${hub}/blobs`));
  writeFileSync(onNode(node, `${hub}/blobs/${sha256('later')}.incomplete`), 'half of a f');
  for (const [name, text] of Object.entries(stored)) {
    writeFileSync(onNode(node, `${hub}/blobs/${sha256(text)}`), text);
    symlinkSync(`../../blobs/${sha256(text)}`, onNode(node, `${hub}/snapshots/c1/${name}`));
  }
}

/** Everything about a folder's files except the time when they were last read. */
const statesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const { ino, size, mtimeMs, ctimeMs, mode, uid, nlink } = statSync(join(folder, name));
      return [name, ino, size, mtimeMs, ctimeMs, mode, uid, nlink].join(' ');
    });

const treeOn = (node: string): TreeId => ({ kind: 'model', name: 'tiny', digest: sha256(`tree on ${node}`) });

const adoption = (node: string): Step =>
  aStep('adopt', {
    node,
    class: 'job',
    deadlineMs: 60_000,
    act: {
      kind: 'job',
      key: sha256(`job on ${node}`),
      name: 'adopt-model',
      args: {
        tree: treeOn(node),
        files: Object.entries(contents).map(([path, text]) => ({
          path,
          sha256: sha256(text),
          sizeBytes: text.length,
          from: path,
        })),
        folder: nodePath(`${hub}/snapshots/c1`),
        fence: nodePath(hub),
      },
    },
  });

const adopt = async (node: string) => {
  const before = statesOf(onNode(node, hub));
  const { steps, diagnostics } = await runPlan(planOf([adoption(node)]), runOptions(rack));
  return {
    outcomes: steps.map(({ outcome }) => outcome),
    problems: diagnostics.map(asText).map(({ code, detail }) => [code, detail]),
    isUnchanged: JSON.stringify(statesOf(onNode(node, hub))) === JSON.stringify(before),
    staged: Object.keys(contents).filter((path) => existsSync(onNode(node, stagedFile(treeOn(node), path).path))),
  };
};

describe('the adoption of a model', () => {
  it('stages every file of a Hugging Face cache and leaves the cache unchanged', async () => {
    storeModel('studio-1');
    expect(await adopt('studio-1')).toEqual({
      outcomes: ['changed'],
      problems: [],
      isUnchanged: true,
      staged: Object.keys(contents),
    });
  });

  it('reports a file with one wrong byte, and does not stage the file', async () => {
    storeModel('studio-2', { ...contents, 'weights.safetensors': contents['weights.safetensors'].replace('w', 'W') });
    expect(await adopt('studio-2')).toEqual({
      outcomes: ['changed'],
      problems: [
        ['step/not-adopted', expect.stringContaining('1 left out: weights.safetensors has different contents')],
      ],
      isUnchanged: true,
      staged: ['config.json'],
    });
  });

  it('fails while a process is still downloading into the folder', async () => {
    storeModel('studio-3');
    const download = openSync(onNode('studio-3', `${hub}/blobs/${sha256('later')}.incomplete`), 'a');
    expect(await adopt('studio-3')).toEqual({
      outcomes: ['failed'],
      problems: [['step/copy-in-use', expect.stringMatching(/\(PID \d+\) is writing .*\.incomplete/)]],
      isUnchanged: true,
      staged: [],
    });
    closeSync(download);
    expect(await adopt('studio-3')).toMatchObject({ outcomes: ['changed'], problems: [], isUnchanged: true });
  });
});
