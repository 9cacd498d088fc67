import { type FileValue, filePart, pairFile } from '../scenarios/converge-file.ts';

/** Two pairs of Macs, each with a cable and a placement of its own, and their macOS version. */
export const twoPairs = (version: string, updates: FileValue): FileValue =>
  pairFile((value) => {
    filePart(value)['macos'] = { version, accept: '>=26.4 <28', updates: { automatic: 'disabled', ...updates } };
    filePart(value, 'ssh')['password'] = { env: 'MESH_PW' };
    // What the first apply need not make.
    Object.assign(filePart(value, 'system'), { keeper: 'none', accounts: { ranks: 'login', transfers: 'login' } });
    const nodes = filePart(value, 'nodes');
    for (const [name, model] of Object.entries({ 'studio-2': 'studio-1', 'studio-3': 'studio-4' }))
      nodes[name] = { ...filePart(value, 'nodes', model), host: `${name}.lan` };
    const links = Object.values(filePart(value, 'thunderbolt', 'links'));
    filePart(value, 'thunderbolt')['links'] = [...links, 'studio-2:2 <-> studio-3:2'];
    const placements = filePart(value, 'placements');
    placements['code'] = { ...filePart(placements, 'chat'), nodes: ['studio-2', 'studio-3'] };
  });
