import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderSource, nodeSource, readShape } from '../../../../src/cli/sources/read-shapes.ts';
import { digest } from '../../../../src/model/digest.ts';
import type { TreeFile } from '../../../../src/model/node-script.ts';
import type { ExecResult, Remote } from '../../../../src/remote/remote.ts';
import { run } from '../../engine/scripts/exec-line.ts';
import { type MacRoot, makeMacRoot } from '../../engine/scripts/mac-root.ts';
import { removedAfter } from '../../engine/scripts/node-root.ts';
import { scriptShells } from '../../engine/scripts/shells.ts';
import { safetensorsBytes, tensorsInRow } from '../../rack/artifacts/shapes/headers.ts';

const newRoot = removedAfter(makeMacRoot);
const shelf = '/Volumes/shelf';

const config = JSON.stringify({
  model_type: 'llama',
  num_hidden_layers: 2,
  hidden_size: 64,
  num_attention_heads: 4,
  num_key_value_heads: 2,
});

/** The tensor names of a file whose header takes several reads. */
const names = Array.from(
  { length: 4_000 },
  (_, index) => `model.layers.${index % 2}.mlp.experts.${index}.up_proj.weight`,
);
const { header, dataBytes } = tensorsInRow(Object.fromEntries(names.map((name) => [name, 2])));
const weights = `${safetensorsBytes(header).toString('latin1')}${'\u0007'.repeat(dataBytes)}`;

const declared = (path: string, content: string): TreeFile => ({
  path,
  sha256: digest(createHash('sha256').update(content, 'latin1').digest('hex')),
  sizeBytes: content.length,
});
const files = [declared('config.json', config), declared('model.safetensors', weights)];
const paths = files.map(({ path }) => path);

/** A connection whose commands run in a local shell; `answer` replaces parts of their results. */
function remoteTo(root: MacRoot, answer: (stdout: string) => Partial<ExecResult> = () => ({})) {
  const sent: string[] = [];
  const remote: Remote = {
    rootPrefix: root.folder,
    connectMs: 1,
    close: () => undefined,
    exec: async (command) => {
      sent.push(command);
      const stdout = await run(command);
      const none = new Uint8Array();
      const times = { sentAtEpochMs: 1, receivedAtEpochMs: 2 };
      const bytes = Buffer.from(stdout, 'latin1');
      const result = { exit: { kind: 'exited', code: 0 }, stdout: bytes, stderr: none, isTruncated: false } as const;
      return { ...result, ...times, ...answer(stdout) };
    },
  };
  return { remote, sent };
}

/** Writes latin1, so that the bytes are unchanged. */
function write(root: MacRoot, path: string, content: string): void {
  mkdirSync(dirname(join(root.folder, path)), { recursive: true });
  writeFileSync(join(root.folder, path), content, 'latin1');
}

function shelfOf(root: MacRoot, changes: Readonly<Record<string, string>> = {}): MacRoot {
  write(root, `${shelf}/config.json`, changes['config.json'] ?? config);
  write(root, `${shelf}/model.safetensors`, changes['model.safetensors'] ?? weights);
  return root;
}

const unknown = (why: string) => ({ kind: 'unknown', why });

const shapeAt = (root: MacRoot, answer?: (stdout: string) => Partial<ExecResult>) =>
  readShape(nodeSource(remoteTo(root, answer).remote, { folder: shelf, files }, 10_000), paths);

describe.each(scriptShells)('the shape of a model on a node, read by $name', (shell) => {
  it('equals the shape of the same local files, and only headers are read', async () => {
    const root = shelfOf(newRoot(shell));
    const here = await readShape(folderSource(join(root.folder, shelf)), paths);
    const { remote, sent } = remoteTo(root);
    expect(await readShape(nodeSource(remote, { folder: shelf, files }, 10_000), paths)).toEqual(here);
    expect(here).toMatchObject({ kind: 'known', shape: { layers: [{ bytes: 4_000 }, { bytes: 4_000 }] } });
    expect(sent).toHaveLength(3);
  });

  it('is read through links, as in model caches', async () => {
    const root = newRoot(shell);
    write(root, 'Volumes/blobs/a', config);
    write(root, 'Volumes/blobs/b', weights);
    root.file(`${shelf}/.keep`, '');
    symlinkSync('../blobs/a', join(root.folder, shelf, 'config.json'));
    symlinkSync('../blobs/b', join(root.folder, shelf, 'model.safetensors'));
    expect(await shapeAt(root)).toMatchObject({ kind: 'known' });
  });

  it('is unknown if the files differ from the cluster file', async () => {
    const root = shelfOf(newRoot(shell), { 'model.safetensors': `${weights}x` });
    const sizes = `${weights.length + 1} bytes instead of ${weights.length}`;
    expect(await shapeAt(root)).toEqual(unknown(`model.safetensors has ${sizes}`));
    const other = shelfOf(newRoot(shell), { 'config.json': config.replace('64', '32') });
    expect(await shapeAt(other)).toEqual(unknown('config.json does not have the sha256 in the cluster file'));
    expect(await shapeAt(newRoot(shell))).toEqual(unknown('config.json does not exist'));
  });

  it("is unknown if a folder has a file's name", async () => {
    const root = newRoot(shell);
    root.file(`${shelf}/config.json/x`, '');
    expect(await shapeAt(root)).toEqual(unknown('config.json cannot be read: no permission'));
  });
});

describe.each(scriptShells)('a file that $name cannot see', (shell) => {
  it('does not exist below a file, but may exist behind a dead link', async () => {
    const root = newRoot(shell);
    root.file(shelf, '');
    expect(await shapeAt(root)).toEqual({ kind: 'unknown', why: 'config.json does not exist' });
    const linked = newRoot(shell);
    linked.file('Volumes/.keep', '');
    symlinkSync('/nowhere/blobs', join(linked.folder, shelf));
    expect(await shapeAt(linked)).toEqual({ kind: 'unknown', why: 'config.json cannot be read: no permission' });
  });

  it.skipIf(process.getuid?.() === 0)('may exist in a folder without search permission', async () => {
    const root = shelfOf(newRoot(shell));
    chmodSync(join(root.folder, 'Volumes'), 0o600);
    try {
      expect(await shapeAt(root)).toEqual({ kind: 'unknown', why: 'config.json cannot be read: no permission' });
    } finally {
      chmodSync(join(root.folder, 'Volumes'), 0o700);
    }
  });
});

describe.each(scriptShells.slice(0, 1))("a node's answer about a file", (shell) => {
  const text = (stdout: string): Partial<ExecResult> => ({ stdout: Buffer.from(stdout, 'latin1') });

  it.each([
    ['no text', () => text('')],
    ['no header line', () => text('AAAA\n')],
    ['an invalid size', () => text('@bytes -1\nAAAA\n')],
    ['invalid base64', (stdout: string) => text(stdout.replace(/\n/, '\n\u001b[31m'))],
    ['too few bytes', (stdout: string) => text(stdout.slice(0, 40))],
    ['too many bytes', (stdout: string) => text(`${stdout.trimEnd().replace(/=+$/, '')}AAAA\n`)],
    ['bytes although there are none', () => text('@bytes none\nAAAA\n')],
    ['a truncated output', (stdout: string) => ({ ...text(stdout), isTruncated: true })],
  ])('is rejected with %s', async (_name, answer) => {
    const shape = await shapeAt(shelfOf(newRoot(shell)), answer);
    expect(shape).toEqual(unknown('config.json arrived in an unexpected format'));
  });

  it('includes the exit code of a failed command', async () => {
    const exit = { kind: 'exited', code: 127 } as const;
    const shape = await shapeAt(shelfOf(newRoot(shell)), () => ({ exit }));
    expect(shape).toEqual(unknown('config.json cannot be read (exit 127)'));
  });
});
