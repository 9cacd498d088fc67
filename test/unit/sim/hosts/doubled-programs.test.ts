import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { doubleFiles, putDoubles } from '../../../../src/sim/hosts/base-tools/archives.ts';
import { sharedFolder } from '../../../rack/kept-running.ts';

const root = sharedFolder('mw-doubled-');

it('putDoubles replaces unpacked binaries with their doubles but keeps scripts with the same name', () => {
  for (const { path, text } of doubleFiles()) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const at = (path: string): string => {
    mkdirSync(join(root, 'c', dirname(path)), { recursive: true });
    return join(root, 'c', path);
  };
  writeFileSync(at('node-v22/bin/node'), Buffer.from('7f454c46020101', 'hex'));
  writeFileSync(at('mac/bin/node'), Buffer.from('cffaedfe0c0000', 'hex'));
  writeFileSync(at('bin/llama-server'), '#!/bin/sh\n');
  const { status, stderr } = spawnSync('/bin/sh', ['-c', `R='${root}' c='${root}/c'\n${putDoubles}exit 0`]);
  expect([status, String(stderr)]).toEqual([0, '']);
  for (const path of ['node-v22/bin/node', 'mac/bin/node']) {
    expect(readFileSync(at(path), 'utf8')).toContain('--require "$0.network.cjs"');
    expect(existsSync(at(`${path}.network.cjs`))).toBe(true);
  }
  expect(readFileSync(at('bin/llama-server'), 'utf8')).toBe('#!/bin/sh\n');
  expect(readFileSync(join(root, '.sim/doubled'), 'utf8')).toBe('node\nnode\n');
});
