import { confirmBody, transactionBody } from '../../../../src/engine/scripts/transaction.ts';
import type { NetworkCall, ScriptCall } from '../../../../src/model/node-script.ts';
import { bootSession, ours } from './mac-root.ts';
import { common, net, reads } from './network-tools.ts';
import { itInEachState, type NodeState } from './node-states.ts';
import { exampleFence } from './script-examples.ts';

const last = (...devices: readonly string[]): NetworkCall => ({ name: 'order-services', args: { last: devices } });
const order = 'Cable|en3\nWi-Fi|en1\nVPN|\nEthernet|en0\n';
const fence = exampleFence;
const note = { step: 'studio-1/service-order/set', verb: 'apply', by: 'ana@desk', config: 'c' } as const;
const change = (call: NetworkCall): string => transactionBody({ call, seconds: 60, fence, note });
const confirm = confirmBody({ fence, note });
const settle: ScriptCall = { name: 'settle-rollback', args: { run: fence.run } };
const rollback = `${ours}/rollback`;
const daemon = 'Library/LaunchDaemons/dev.meshwright.rollback.plist';
const service = '../launchd/dev.meshwright.rollback';
const keeperData = `${ours}/keeper/data`;
const about = (more: { readonly run?: string; readonly boot?: string; readonly step?: string } = {}): string =>
  `run=${more.run ?? fence.run}\ntoken=${fence.token}\nstep=${more.step ?? note.step}\nboot=${more.boot ?? bootSession}\npid=4711\nwords=w\n`;
/** A transaction of the run in a folder, whose restored settings are the file `restored`. */
const transaction = (state: string, text = about(), more: NodeState['files'] = {}): NodeState => ({
  files: {
    [`${rollback}/${state}/about`]: text,
    [`${rollback}/${state}/restore`]: ': >"$R/restored"',
    [daemon]: 'plist',
    [service]: 'state = waiting\n',
    ...more,
  },
});
const alive = { 'bin/ps': "printf '/bin/sh -s\\n'" };
const dead = { 'bin/ps': 'exit 1' };
const disarmed = { [daemon]: null, [service]: null };
const armed = { '../launchd.next': 'state = running\npid = 4711\n' };
const working = net({ 'net/order': order });
const rolledBack = { restored: '', [`${rollback}/rolled/about`]: about(), [`${rollback}/pending/`]: null, ...disarmed };
const timely = 'rolled-back: the change was not confirmed in time, so the node restored its network';

itInEachState(
  'the first half of a network change',
  [
    [
      'changes the network under an armed rollback',
      change(last('en3')),
      { files: { ...working.files, ...armed } },
      { ends: 'changed', leaves: { [`${rollback}/pending/verdict`]: '0\n', [service]: armed['../launchd.next'] } },
    ],
    [
      'disarms the rollback if nothing changed',
      change(last('en0')),
      { files: { ...working.files, ...armed } },
      { ends: 'unchanged', leaves: { [`${rollback}/pending/`]: null, [`${rollback}/rolled/`]: null, ...disarmed } },
    ],
    [
      'rolls back a change that failed',
      change(last('en3')),
      { files: { ...working.files, ...armed, '../deaf': '-ordernetworkservices' } },
      {
        ends: 'networksetup: networksetup reported success, but the order did not change',
        leaves: { [`${rollback}/pending/`]: null, [`${rollback}/rolled/`]: '', ...disarmed },
      },
    ],
    [
      'keeps a change that failed in part',
      change({ name: 'remove-bridge', args: { bridge: 'bridge0', members: [], services: ['Cable'] } }),
      { files: { ...net({ 'net/on.Cable': '', deaf: '-setnetworkserviceenabled' }).files, ...armed } },
      { ends: 'networksetup: Cable stayed on', leaves: { [`${rollback}/pending/verdict`]: '3\n' } },
    ],
    [
      'waits for a pending change',
      change(last('en3')),
      { files: { ...working.files, ...transaction('pending').files } },
      { ends: 'rollback-pending: a previous network change must be settled first', calls: [] },
    ],
    [
      'waits for a rollback',
      change(last('en3')),
      { files: { ...working.files, ...transaction('rolling').files } },
      { ends: 'rollback-pending: a previous network change must be settled first', calls: [] },
    ],
    [
      "drops the keeper's data that the last change made outdated",
      change(last('en0')),
      { files: { ...working.files, ...armed, [keeperData]: '', [`${rollback}/confirmed/keeper-confirmed`]: '' } },
      { ends: 'unchanged', leaves: { [keeperData]: null, [`${rollback}/confirmed/`]: null } },
    ],
    [
      "keeps the keeper's data that the last change agreed with",
      change(last('en0')),
      { files: { ...working.files, ...armed, [keeperData]: '', [`${rollback}/confirmed/about`]: '' } },
      { ends: 'unchanged', leaves: { [keeperData]: '', [`${rollback}/confirmed/`]: null } },
    ],
    [
      'changes nothing if the rollback does not start',
      change(last('en3')),
      working,
      {
        ends: 'not-armed: launchd does not start the rollback',
        leaves: { [`${rollback}/pending/`]: null, '../net/order': order, ...disarmed },
      },
    ],
    [
      'replaces the rollback of an earlier change',
      change(last('en3')),
      { files: { ...working.files, ...armed, [service]: 'state = waiting\n' } },
      { ends: 'changed', leaves: { [service]: armed['../launchd.next'] } },
    ],
    [
      'waits until the keeper is idle',
      change(last('en3')),
      {
        files: {
          ...working.files,
          ...armed,
          'Library/LaunchDaemons/dev.meshwright.keeper.plist': '',
          '../launchd/dev.meshwright.keeper': 'state = running\npid = 99999999\n',
        },
      },
      { ends: 'not-armed: the keeper does not stand still', leaves: { '../net/order': order } },
    ],
  ],
  common,
  reads,
);

itInEachState(
  'the second half of a network change',
  [
    [
      'confirms the change',
      confirm,
      { ...transaction('pending', about(), { [`${rollback}/pending/verdict`]: '0\n' }), tools: dead },
      { ends: 'changed', leaves: { restored: null, [`${rollback}/confirmed/about`]: about(), ...disarmed } },
    ],
    [
      'is repeated without an effect',
      confirm,
      transaction('confirmed'),
      { ends: 'unchanged', leaves: { [`${rollback}/confirmed/about`]: about(), [daemon]: 'plist' } },
    ],
    [
      "drops the keeper's data that the change made outdated",
      confirm,
      {
        ...transaction('pending', about(), {
          [`${rollback}/pending/verdict`]: '0\n',
          [`${rollback}/pending/keeper-confirmed`]: '',
          [keeperData]: '',
        }),
        tools: dead,
      },
      { ends: 'changed', leaves: { [keeperData]: null } },
    ],
    [
      "drops the keeper's data if the confirmation was interrupted",
      confirm,
      transaction('confirmed', about(), { [`${rollback}/confirmed/keeper-confirmed`]: '', [keeperData]: '' }),
      { ends: 'unchanged', leaves: { [keeperData]: null } },
    ],
    [
      'rolls back a change whose script has died',
      confirm,
      { ...transaction('pending'), tools: dead },
      { ends: timely, leaves: rolledBack },
    ],
    [
      'rolls back a change of an earlier boot session',
      confirm,
      { ...transaction('pending', about({ boot: 'x' })), tools: alive },
      { ends: timely, leaves: { restored: '', ...disarmed } },
    ],
    [
      'leaves the change of another step',
      confirm,
      { ...transaction('pending', about({ step: 'x' }), { [`${rollback}/pending/verdict`]: '0\n' }), tools: dead },
      { ends: 'no-transaction: the node knows of no such change', leaves: { restored: null, [daemon]: 'plist' } },
    ],
    [
      'does not take the confirmed change of another run for its own',
      confirm,
      { ...transaction('confirmed', about({ run: 'r-other' })), tools: dead },
      { ends: 'no-transaction: the node knows of no such change' },
    ],
    [
      'reports a change that was rolled back',
      confirm,
      transaction('rolled'),
      { ends: timely, leaves: { restored: null } },
    ],
    [
      'reports a rollback that was interrupted',
      confirm,
      { ...transaction('rolling'), tools: dead },
      { ends: 'rolling-back: the node is still restoring its network', leaves: { restored: null } },
    ],
    [
      'reports a folder without a description',
      confirm,
      { files: { [`${rollback}/rolled/`]: '' } },
      { ends: 'no-transaction: the node knows of no such change' },
    ],
  ],
  common,
  reads,
);

itInEachState(
  'settle-rollback',
  [
    ['changes nothing without a change', settle, {}, { ends: 'unchanged' }],
    [
      'rolls back the change of a dead script',
      settle,
      { ...transaction('pending'), tools: dead },
      { ends: 'changed', leaves: rolledBack },
    ],
    [
      'rolls back a change that is not confirmed',
      settle,
      { ...transaction('pending', about(), { [`${rollback}/pending/verdict`]: '0\n' }), tools: alive },
      { ends: 'changed', leaves: rolledBack },
    ],
    [
      'rolls back a change of an earlier boot session',
      settle,
      { ...transaction('pending', about({ boot: 'x' })), tools: alive },
      { ends: 'changed', leaves: { restored: '' } },
    ],
    [
      'leaves the change of another run',
      { name: 'settle-rollback', args: { run: 'r-other' } },
      { ...transaction('pending'), tools: dead },
      { ends: 'unchanged', leaves: { restored: null, [daemon]: 'plist' } },
    ],
    [
      'leaves a confirmed change',
      settle,
      { ...transaction('confirmed'), tools: dead },
      { ends: 'unchanged', leaves: { restored: null } },
    ],
    [
      'repeats an interrupted rollback',
      settle,
      { ...transaction('rolling'), tools: dead },
      { ends: 'changed', leaves: rolledBack },
    ],
    [
      'does not trust a process number that is none',
      settle,
      { ...transaction('rolling', about(), { [`${rollback}/rolling/pid`]: '4x\n' }), tools: alive },
      { ends: 'changed', leaves: rolledBack },
    ],
    [
      'does not trust the process number of another program',
      settle,
      { ...transaction('rolling'), tools: { 'bin/ps': "printf '/sbin/launchd\\n'" } },
      { ends: 'changed', leaves: rolledBack },
    ],
  ],
  common,
  reads,
);
