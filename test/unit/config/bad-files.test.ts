import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const folder = 'test/cases/bad-files';

/** The code and the line of each file's first diagnostic. */
const places: Readonly<Record<string, readonly [string, number]>> = {
  'archive-file-url': ['schema/bad-form', 12],
  'arrow-sign': ['schema/bad-form', 10],
  'carriage-returns': ['yaml/control-character', 1],
  'fullwidth-port': ['schema/wrong-type', 5],
  'hf-dots': ['schema/bad-form', 14],
  'hold-on-31-february': ['schema/bad-form', 5],
  'infinite-memory': ['schema/wrong-type', 5],
  'label-proto': ['schema/bad-name', 5],
  'link-as-map': ['yaml/syntax', 10],
  'mirror-with-password': ['schema/bad-form', 15],
  'node-path-up': ['schema/bad-form', 14],
  'pool-everything': ['topology/pool-not-a-network', 8],
  'pool-mask-33': ['topology/pool-not-a-network', 8],
  'pool-too-small': ['topology/pool-too-small', 8],
  'proxy-as-network': ['schema/bad-form', 23],
  'same-port-twice': ['placement/endpoint-taken', 24],
  'sexagesimal-port': ['schema/wrong-type', 5],
  'shares-of-three': ['runtime/not-for-driver', 23],
  'zero-width-in-reference': ['yaml/control-character', 19],
};

describe('a bad file', () => {
  it.each(readdirSync(folder))('has its first diagnostic on the right line: %s', (name) => {
    const { diagnostics } = loadCluster(readFileSync(`${folder}/${name}`), name);
    const [first] = diagnostics;
    expect([first?.code, first?.where?.line]).toEqual(places[name.replace('.yaml', '')]);
    expect(first?.hint).not.toBe('');
  });
});
