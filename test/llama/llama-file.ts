import { join } from 'node:path';
import { parse } from 'yaml';
import { textOf } from '../architecture/sources.ts';
import { type FileValue, filePart } from '../scenarios/converge-file.ts';

/** The nodes of the mesh in rank order: three of the example's four. */
export const meshNodes = ['studio-1', 'studio-2', 'studio-3'] as const;

/** The example file with only three Macs in a triangle and a mesh of llama.cpp on them. */
export function llamaFile(folder: string, change: (file: FileValue) => void = () => undefined): FileValue {
  const file: unknown = parse(textOf('test/rack/reference.yaml'));
  const value = filePart(file);
  delete filePart(value, 'nodes')['studio-4'];
  const thunderbolt = filePart(value, 'thunderbolt');
  thunderbolt['links'] = Object.values(filePart(thunderbolt, 'links'))
    .map(String)
    .filter((text) => !text.includes('studio-4'));
  value['runtimes'] = { llama: { driver: 'llamacpp-rpc', archive: join(folder, 'llama.tar.gz') } };
  value['models'] = { tiny: { source: join(folder, 'model') } };
  value['placements'] = {
    chat: {
      model: 'tiny',
      runtime: 'llama',
      nodes: [...meshNodes],
      sharding: 'pipeline',
      transport: 'tcp',
      context: 512,
      endpoint: { port: 8080 },
      // A token request to a hung mesh waits this long.
      expect: { firstToken: '4s' },
    },
  };
  change(value);
  return value;
}
