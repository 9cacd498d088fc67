import { confirmBody, transactionBody } from '../../../../src/engine/scripts/transaction.ts';
import type { NetworkCall, ScriptCall } from '../../../../src/model/node-script.ts';
import { bootSession, ours } from './mac-root.ts';
import { common, deafTo, net, ordered } from './network-tools.ts';
import { at, comparesTraces, empty, gone, tableOf } from './node-states.ts';
import { exampleFence } from './script-examples.ts';
import { lines } from './service-tools.ts';

const last = (...devices: readonly string[]): NetworkCall => ({ name: 'order-services', args: { last: devices } });
const fence = exampleFence;
const note = { step: 'studio-1/service-order/set', verb: 'apply', by: 'ana@desk', config: 'c' } as const;
const change = (call: NetworkCall): string => transactionBody({ call, seconds: 60, fence, note });
const move = change(last('en3'));
const keep = change(last('en0'));
const confirm = confirmBody({ fence, note });
const settle: ScriptCall = { name: 'settle-transaction', args: { run: fence.run } };
const changesFolder = `${ours}/transaction`;
const daemon = 'Library/LaunchDaemons/dev.meshwright.transaction.plist';
const service = '../launchd/dev.meshwright.transaction';
const keeperData = `${ours}/keeper/data`;
const about = (more: object = {}): string =>
  lines({ run: fence.run, token: fence.token, step: note.step, boot: bootSession, pid: 4711, words: 'w', ...more });
const inState = (path: string, text = '') => at(`${changesFolder}/${path}`, text);
const noState = (...paths: readonly string[]) => gone(...paths.map((path) => `${changesFolder}/${path}`));
/** A transaction of the run in a folder, whose restored settings are the file `restored`. */
const transaction = (state: string, more: object = {}) => ({
  ...{ ...inState(`${state}/about`, about(more)), ...inState(`${state}/restore`, ': >"$R/restored"') },
  ...{ [daemon]: 'plist', [service]: 'state = waiting\n' },
});
const [pending, rolling] = [transaction('pending'), transaction('rolling')];
const verdict = inState('pending/verdict', '0\n');
const pendingEarlier = transaction('pending', { boot: 'x' });
const unknown = 'no-transaction: the node knows of no such change';
const unsettled = 'transaction-pending: a previous network change must be settled first';
const alive = at('bin/ps', "printf '/bin/sh -s\\n'");
const dead = at('bin/ps', 'exit 1');
const disarmed = { [daemon]: null, [service]: null };
const armed = { '../launchd.next': 'state = running\npid = 4711\n' };
const rolledBack = { restored: '', ...inState('rolled/about', about()), ...noState('pending/'), ...disarmed };
const timely = 'rolled-back: the change was not confirmed in time, so the node restored its network';

const busyKeeper = {
  'Library/LaunchDaemons/dev.meshwright.keeper.plist': '',
  '../launchd/dev.meshwright.keeper': 'state = running\npid = 99999999\n',
};
const outdated = { [keeperData]: '', ...inState('confirmed/keeper-confirmed') };
const unmoved = 'networksetup: networksetup reported success, but the order did not change';
const part = change({ name: 'remove-bridge', args: { bridge: 'bridge0', members: [], services: ['Cable'] } });
const onAndDeaf = net({ 'net/on.Cable': '', deaf: '-setnetworkserviceenabled' });
const first = tableOf('the first half of a network change', { ...common, ...ordered });
first('changes the network under an armed rollback', move)
  .in(armed)
  .ends('changed', inState('pending/verdict', '0\n'), at(service, armed['../launchd.next']));
first('disarms the rollback if nothing changed', keep)
  .in(armed)
  .ends('unchanged', noState('pending/', 'rolled/'), disarmed);
first('rolls back a change that failed', move)
  .in(armed, deafTo('-ordernetworkservices'))
  .ends(unmoved, noState('pending/'), inState('rolled/'), disarmed);
first('keeps a change that partly failed', part)
  .in(onAndDeaf, armed)
  .ends('networksetup: Cable stayed on', inState('pending/verdict', '3\n'));
first('waits for a pending change', move).in(pending).ends(unsettled, []);
first('waits for a rollback', move).in(transaction('rolling')).ends(unsettled, []);
first("drops the keeper's data that the last change made outdated", keep)
  .in(armed, outdated)
  .ends('unchanged', gone(keeperData), noState('confirmed/'));
first("keeps the keeper's data that matches the last change", keep)
  .in(armed, empty(keeperData), inState('confirmed/about'))
  .ends('unchanged', noState('confirmed/'), empty(keeperData));
first('changes nothing if the rollback does not start', move)
  .in()
  .ends('not-armed: launchd does not start the rollback', noState('pending/'), ordered, disarmed);
first("replaces an earlier change's rollback", move)
  .in(armed, at(service, 'state = waiting\n'))
  .ends('changed', at(service, armed['../launchd.next']));
first('waits until the keeper is idle', move)
  .in(armed, busyKeeper)
  .ends('not-armed: the keeper does not stand still', ordered);

const second = tableOf('the second half of a network change', common);
second('confirms the change', confirm)
  .in(pending, verdict, dead)
  .ends('changed', gone('restored'), inState('confirmed/about', about()), disarmed);
second('is repeated without an effect', confirm)
  .in(transaction('confirmed'))
  .ends('unchanged', inState('confirmed/about', about()), at(daemon, 'plist'));
second("drops the keeper's data that the change made outdated", confirm)
  .in(pending, verdict, inState('pending/keeper-confirmed'), empty(keeperData), dead)
  .ends('changed', gone(keeperData));
second("drops the keeper's data if the confirmation was interrupted", confirm)
  .in(transaction('confirmed'), outdated)
  .ends('unchanged', gone(keeperData));
second('rolls back a change whose script has died', confirm).in(pending, dead).ends(timely, rolledBack);
second('rolls back a change from an earlier boot session', confirm)
  .in(pendingEarlier, alive)
  .ends(timely, empty('restored'), disarmed);
second("leaves another step's change", confirm)
  .in(transaction('pending', { step: 'x' }), verdict, dead)
  .ends(unknown, gone('restored'), at(daemon, 'plist'));
second("does not treat another run's confirmed change as its own", confirm)
  .in(transaction('confirmed', { run: 'r-other' }), dead)
  .ends(unknown);
second('reports a change that was rolled back', confirm).in(transaction('rolled')).ends(timely, gone('restored'));
second('reports a rollback that was interrupted', confirm)
  .in(rolling, dead)
  .ends('rolling-back: the node is still restoring its network', gone('restored'));
second('reports a folder without a description', confirm).in(inState('rolled/')).ends(unknown);

const settled = tableOf('settle-transaction', common);
settled('changes nothing without a change', settle).ends('unchanged');
settled("rolls back a dead script's change", settle).in(pending, dead).ends('changed', rolledBack);
settled('rolls back a change that is not confirmed', settle).in(pending, verdict, alive).ends('changed', rolledBack);
settled('rolls back a change from an earlier boot session', settle)
  .in(pendingEarlier, alive)
  .ends('changed', empty('restored'));
settled('fails if a rollback does not end', settle)
  .in(rolling, alive)
  .ends('still-changing: process 4711 is still working on it', gone('restored'));
settled("leaves another run's change", { name: 'settle-transaction', args: { run: 'r-other' } })
  .in(pending, dead)
  .ends('unchanged', gone('restored'), at(daemon, 'plist'));
settled('leaves a confirmed change', settle).in(transaction('confirmed'), dead).ends('unchanged', gone('restored'));
settled('repeats an interrupted rollback', settle).in(rolling, dead).ends('changed', rolledBack);
settled('does not trust an invalid process number', settle)
  .in(rolling, inState('rolling/pid', '4x\n'), alive)
  .ends('changed', rolledBack);
settled("does not trust another program's process number", settle)
  .in(rolling, at('bin/ps', "printf '/sbin/launchd\\n'"))
  .ends('changed', rolledBack);

comparesTraces('transaction-states');
