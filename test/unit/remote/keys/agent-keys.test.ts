import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { listAgentKeys } from '../../../../src/remote/keys/identities.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { field, fields } from '../wire.ts';

const { at } = temporaryFolder();

const identity = (...values: readonly (Buffer | string)[]): Buffer => fields(fields(...values), 'a comment');

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
  const agent = createServer((socket) => void socket.on('data', () => socket.end(answer)));
  await new Promise<void>((resolve) => agent.listen(at('agent'), resolve));
  const { keys } = await listAgentKeys(at('agent'));
  agent.close();
  expect(keys.map(({ key }) => key.type)).toEqual(['ssh-ed25519']);
});

it('listAgentKeys names an agent that does not listen, with the reason', async () => {
  expect(await listAgentKeys(at('none/agent'))).toMatchObject({
    keys: [],
    problem: {
      code: 'ssh/agent-unreachable',
      detail: expect.stringMatching(/none\/agent did not list its keys: Failed to connect/),
    },
  });
});
