import { createServer, type Server } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { fingerprint } from '../../../../src/remote/keys/host-key.ts';
import { authorizedKeysLines, collectIdentities, firstKey } from '../../../../src/remote/keys/identities.ts';
import type { Target } from '../../../../src/remote/remote.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { edKey, edPair, field, fields } from '../wire.ts';

const { at, write: put } = temporaryFolder();
const agents: Server[] = [];
afterAll(() => {
  for (const agent of agents) agent.close();
});

const lineOf = (blob: Buffer): string => `ssh-ed25519 ${blob.toString('base64')}`;
const labelOf = (source: string, blob: Buffer): string =>
  `${source} (ssh-ed25519 ${fingerprint({ type: 'ssh-ed25519', base64: blob.toString('base64') })})`;

/** Files with a different key each, generated once. */
const plain = [0, 1, 2, 3, 4, 5].map((n) => {
  const pair = edPair({ comment: n === 0 ? 'mesh at desk' : n === 1 ? 'Jörg' : '' });
  return { file: put(`plain-${n}`, pair.private), blob: Buffer.from(pair.public.split(' ')[1] ?? '', 'base64') };
});
const files = plain.map(({ file }) => file);
const offeredFiles = plain.map(({ file, blob }) => [labelOf(file, blob), 'file']);

/** Starts an agent with these keys and returns its socket. */
async function agentWith(...blobs: readonly Buffer[]): Promise<string> {
  const count = Buffer.from([12, 0, 0, 0, blobs.length]);
  const answer = field(Buffer.concat([count, ...blobs.map((blob) => fields(blob, `key of ${blob.at(-1)}`))]));
  const agent = createServer((socket) => void socket.on('data', () => socket.end(answer)));
  const path = at(`agent-${agents.push(agent)}`);
  await new Promise<void>((resolve) => agent.listen(path, resolve));
  return path;
}

const held = [1, 2, 3, 4, 5, 6].map(edKey);
const target: Target = { label: 'n', host: 'n', port: 22, user: 'mesh', rootPrefix: '', identityFiles: [] };
const socket = await agentWith(...held);

/** The offered keys, the number left out, and the problems with the rest. */
async function collected(more: Partial<Target>) {
  const { offers, leftOut, problems } = await collectIdentities({ ...target, ...more });
  const reported = problems.map(({ code, detail, hint }) => [code, detail, hint]);
  return { offers: offers.map(({ label, signer }) => [label, signer.kind]), leftOut, reported };
}
const ofAgent = (byte: number) => [labelOf(`agent: key of ${byte}`, edKey(byte)), 'agent'];

describe('the keys offered to a node', () => {
  it('number at most five, or four if one of the first five needs the agent', async () => {
    expect(await collected({ identityFiles: files.slice(0, 5) })).toEqual({
      offers: offeredFiles.slice(0, 5),
      leftOut: 0,
      reported: [],
    });
    expect(await collected({ identityFiles: files })).toMatchObject({ offers: offeredFiles.slice(0, 5), leftOut: 1 });
    const onlyOne = await collected({ identityFiles: files.slice(0, 1), agentSocket: socket });
    expect(onlyOne).toEqual({
      offers: [...offeredFiles.slice(0, 1), ...[1, 2, 3].map(ofAgent)],
      leftOut: 3,
      reported: [],
    });
    const five = await collected({ identityFiles: files.slice(0, 5), agentSocket: socket });
    expect(five).toMatchObject({ offers: offeredFiles.slice(0, 5), leftOut: 6 });
    const four = await collected({ identityFiles: files.slice(0, 4), agentSocket: socket });
    expect(four).toMatchObject({ offers: offeredFiles.slice(0, 4), leftOut: 6 });
    const first = put('first.pub', lineOf(edKey(6)));
    const mixed = { identityFiles: [first, ...files], agentSocket: socket };
    const offers = [[labelOf(first, edKey(6)), 'agent'], ...offeredFiles.slice(0, 3)];
    expect(await collected({ ...mixed, isIdentitiesOnly: true })).toEqual({ offers, leftOut: 3, reported: [] });
    // The order in the agent does not matter.
    expect(await collected(mixed)).toEqual({ offers, leftOut: 8, reported: [] });
  });

  it('have no duplicates, and with IdentitiesOnly no unnamed agent keys', async () => {
    const named = put('named.pub', lineOf(edKey(2)));
    const both = [named, files[0] ?? '', files[0] ?? ''];
    const [own, ofFile] = [[labelOf(named, edKey(2)), 'agent'], offeredFiles[0]];
    const only = await collected({ identityFiles: both, agentSocket: socket, isIdentitiesOnly: true });
    expect(only).toEqual({ offers: [own, ofFile], leftOut: 0, reported: [] });
    const two = await agentWith(edKey(2), edKey(3));
    const all = await collected({ identityFiles: both, agentSocket: two });
    expect(all).toEqual({ offers: [own, ofFile, ofAgent(3)], leftOut: 0, reported: [] });
  });

  it('exclude a file that needs the agent if the agent does not have its key', async () => {
    const locked = edPair({ passphrase: 'x', cipher: 'aes256-ctr', rounds: 1 });
    const blob = Buffer.from(locked.public.split(' ')[1] ?? '', 'base64');
    const [encrypted, half] = [put('locked', locked.private), put('half.pub', lineOf(edKey(9)))];
    const missing = at('missing');
    const refused = await collected({ identityFiles: [encrypted, half, missing], agentSocket: at('gone') });
    expect(refused).toEqual({
      offers: [],
      leftOut: 0,
      reported: [
        [
          'ssh/key-encrypted',
          `${encrypted} is encrypted, and the ssh agent does not have its key.`,
          `Add the key to the agent: ssh-add ${encrypted}`,
        ],
        [
          'ssh/key-unusable',
          `${half} is a public key, and the ssh agent does not have its private key.`,
          expect.any(String),
        ],
        ['ssh/key-unusable', `${missing}: the file does not exist.`, expect.any(String)],
        ['ssh/agent-unreachable', expect.stringContaining(at('gone')), expect.any(String)],
      ],
    });
    const holding = await agentWith(blob, edKey(9));
    expect(await collected({ identityFiles: [encrypted, half], agentSocket: holding })).toEqual({
      offers: [
        [labelOf(encrypted, blob), 'agent'],
        [labelOf(half, edKey(9)), 'agent'],
      ],
      leftOut: 0,
      reported: [],
    });
  });

  it('have a first key and authorized_keys lines with plain-text comments', async () => {
    const [first, second] = plain.map(({ blob }) => lineOf(blob));
    expect(await firstKey({ ...target, identityFiles: files })).toEqual({ label: offeredFiles[0]?.[0], line: first });
    expect(await firstKey(target)).toBeUndefined();
    const lines = await authorizedKeysLines({ ...target, identityFiles: files.slice(0, 2), agentSocket: socket });
    expect(lines).toEqual([
      `${first} mesh at desk`,
      second,
      ...[1, 2].map((at) => `${lineOf(edKey(at))} key of ${at}`),
    ]);
  });
});
