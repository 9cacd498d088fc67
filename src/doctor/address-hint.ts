import type { LinkEnd } from '../model/link.ts';
import type { Facts } from '../model/observation.ts';
import { withCommands } from './hint-lines.ts';
import { serviceOfDevice } from './service-names.ts';

/** A receptacle and the interface that it has on this boot. */
export interface BareReceptacle {
  readonly end: LinkEnd;
  readonly interfaceName: string;
}

/** What to type for one receptacle, or what to do in words where no command can be given. */
interface Act {
  readonly commands: readonly string[];
  readonly words: readonly string[];
}

const command = (...words: readonly string[]): string => `sudo networksetup ${words.join(' ')}`;
const setManual = (name: string): string => command('-setmanual', `"${name}"`, 'ADDRESS 255.255.255.252');

function actFor(facts: Facts, { end, interfaceName }: BareReceptacle): Act {
  const port = `Thunderbolt ${end.receptacle}`;
  const service = serviceOfDevice(facts, interfaceName);
  switch (service.kind) {
    case 'named': {
      const enable = service.isEnabled ? [] : [command('-setnetworkserviceenabled', `"${service.name}"`, 'on')];
      return { commands: [...enable, setManual(service.name)], words: [] };
    }
    case 'none': {
      const services = facts['network-services'];
      const isTaken = services.kind === 'known' && services.value.some(({ name }) => name === port);
      return isTaken
        ? { commands: [], words: [`For ${port} (${interfaceName}), add a service in System Settings > Network.`] }
        : { commands: [command('-createnetworkservice', `"${port}"`, `"${port}"`), setManual(port)], words: [] };
    }
    case 'unsafe':
      return { commands: [], words: [`For ${port} (${interfaceName}), set it in System Settings > Network.`] };
    case 'unknown':
      return { commands: [], words: [`For ${port} (${interfaceName}), see in System Settings > Network.`] };
  }
}

/**
 * How the receptacles of a node get fixed addresses, by the names that their network services really have. A service
 * is made first where there is none. @see networksetup(8)
 */
export function addressHint(node: string, facts: Facts, bare: readonly BareReceptacle[]): string {
  const acts = bare.map((one) => actFor(facts, one));
  const commands = acts.flatMap((one) => one.commands);
  const typed = withCommands(`On ${node}, with the address of each link for ADDRESS:`, commands);
  return [
    ...(commands.length === 0 ? [`${node} needs a fixed IPv4 address on each.`] : [typed]),
    ...acts.flatMap((one) => one.words),
  ].join('\n');
}

/** How an interface that is down is brought up: by its service, if that is switched off, else by a restart. */
export function interfaceHint(node: string, facts: Facts, down: readonly BareReceptacle[]): string {
  const services = down.map(({ interfaceName }) => serviceOfDevice(facts, interfaceName));
  const off = services.flatMap((one) => (one.kind === 'named' && !one.isEnabled ? [one.name] : []));
  const commands = off.map((name) => command('-setnetworkserviceenabled', `"${name}"`, 'on'));
  const isAllOff = off.length === down.length;
  const rest = `See in System Settings > Network of ${node} whether its service is on; if it is, restart ${node}.`;
  return [...(commands.length === 0 ? [] : [withCommands(`On ${node}:`, commands)]), ...(isAllOff ? [] : [rest])].join(
    '\n',
  );
}
