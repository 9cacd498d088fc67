import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadCluster } from '../../../src/engine/load-cluster.ts';
import { snippetsIn } from '../../scenarios/page-snippets.ts';

const page = readFileSync('docs/other-runtimes.md', 'utf8');
const rack = `
schema: 1
name: rack
nodes:
  studio-1: { host: studio-1.lan, hardware: { model: "Mac15,14" } }
  studio-2: { host: studio-2.lan, hardware: { model: "Mac15,14" } }
thunderbolt:
  addressing: { pool: 10.77.0.0/24 }
  links: [studio-1:2 <-> studio-2:2]
`;

describe('the page about other runtimes', () => {
  const snippets = snippetsIn(page);

  it('shows one runtime with a placement for each server', () => {
    const names = snippets.map(({ runtimes }) => Object.keys(runtimes));
    expect(names).toEqual([['ds4'], ['omlx'], ['vllm-mlx'], ['tensorfold'], ['ollama'], ['lmstudio'], ['split']]);
  });

  it.each(snippets.map((snippet) => [Object.keys(snippet.runtimes)[0], snippet] as const))(
    'has a valid example for %s',
    (_name, snippet) => {
      const { fleet, diagnostics } = loadCluster(stringify({ ...parse(rack), ...snippet }), 'cluster.yaml');
      expect(diagnostics).toEqual([]);
      expect(fleet).toBeDefined();
    },
  );
});
