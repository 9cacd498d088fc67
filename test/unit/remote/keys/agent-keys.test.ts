import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listAgentKeys } from '../../../../src/remote/keys/identities.ts';

const lengthOf = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return length;
};
const field = (bytes: Buffer | string): Buffer => Buffer.concat([lengthOf(Buffer.from(bytes)), Buffer.from(bytes)]);
const identity = (...fields: readonly (Buffer | string)[]): Buffer =>
  Buffer.concat([field(Buffer.concat(fields.map(field))), field('a comment')]);

/** SSH_AGENT_IDENTITIES_ANSWER. @see draft-ietf-sshm-ssh-agent, 3.5 */
const answer = field(
  Buffer.concat([
    Buffer.from([12, 0, 0, 0, 3]),
    identity('ssh-dss', ...[128, 20, 128, 128].map((size) => Buffer.alloc(size, 1))),
    identity('ssh-ed25519', Buffer.alloc(32, 1)),
    identity('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 1), 'ssh:'),
  ]),
);

it('listAgentKeys omits DSA keys and keys of unknown types', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mw-agent-'));
  const agent = createServer((socket) => void socket.on('data', () => socket.end(answer)));
  await new Promise<void>((resolve) => agent.listen(join(folder, 'agent'), resolve));
  const { keys } = await listAgentKeys(join(folder, 'agent'));
  agent.close();
  rmSync(folder, { recursive: true });
  expect(keys.map(({ key }) => key.type)).toEqual(['ssh-ed25519']);
});

it('listAgentKeys names an agent that does not listen, with the reason', async () => {
  const socket = join(tmpdir(), 'mw-no-agent', 'agent');
  expect(await listAgentKeys(socket)).toMatchObject({
    keys: [],
    problem: {
      code: 'ssh/agent-unreachable',
      detail: expect.stringMatching(/mw-no-agent\/agent did not list its keys: Failed to connect/),
    },
  });
});
